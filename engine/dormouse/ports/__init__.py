"""What the engine needs from outside, as protocols of meaning; no driver's words."""
