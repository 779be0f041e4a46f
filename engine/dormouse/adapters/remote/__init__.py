"""A Dormouse that runs in another process, over its own REST."""
