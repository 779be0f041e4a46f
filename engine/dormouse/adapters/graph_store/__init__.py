"""The graph, as SQLite."""
