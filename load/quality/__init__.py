"""How well recall finds evidence: recall at 5, 10 and 20, on sets of conversations and documents."""
