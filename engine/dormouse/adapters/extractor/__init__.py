"""What a text claims, without or with a model."""
