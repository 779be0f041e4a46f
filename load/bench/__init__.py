"""How fast the laptop's form is, each figure against the least that the same work could take."""
