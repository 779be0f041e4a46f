"""How receipts move: pure transitions, and the steps that several activities share in a transaction."""
