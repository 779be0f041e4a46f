"""Formats that are not text, read by a process of their own."""
