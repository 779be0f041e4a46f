"""The gateway: MCP and REST over the memory engine."""
