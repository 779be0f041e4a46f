"""MCP over Streamable HTTP and stdio; knows no contract's words."""
