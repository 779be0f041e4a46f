"""The catalog: the truth about everything accepted, one protocol per concern inside one transaction."""
