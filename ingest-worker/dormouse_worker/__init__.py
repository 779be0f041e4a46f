"""The ingest worker: runs the engine's pipelines for a cluster. Only the laptop form exists so far."""
