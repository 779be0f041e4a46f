"""Workspace directories."""
