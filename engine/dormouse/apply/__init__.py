"""From ready parts to the stores: in order, one change at a time, each exactly once."""
