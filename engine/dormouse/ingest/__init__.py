"""From what a caller handed over to parts that are ready to be applied."""
