"""The graph contract's six tools, one module each."""
