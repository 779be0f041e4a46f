"""What callers may rely on: one folder per contract."""
