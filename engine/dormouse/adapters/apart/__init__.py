"""Parsers of foreign bytes, each in a process of its own that dies with its input."""
