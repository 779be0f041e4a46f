"""Blobs, as files."""
