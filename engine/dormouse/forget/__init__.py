"""Forgetting: hidden from the commit on, then erased everywhere, then read back."""
