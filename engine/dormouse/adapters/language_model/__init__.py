"""Language models behind an OpenAI-compatible interface: what the adapters that ask one share."""
