"""Session memory: what one user's conversation said lately."""
