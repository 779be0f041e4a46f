"""How fast recall is on the laptop's form, against the embedding and one vector search alone."""
