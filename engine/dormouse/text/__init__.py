"""Text to terms, languages and dates: pure functions, Unicode-aware."""
