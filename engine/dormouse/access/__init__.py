"""The one place that says what a caller may see and change."""
