"""The graph contract: its tools, texts and rules."""
