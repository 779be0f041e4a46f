"""The graph contract over REST, `/api/v1`."""
