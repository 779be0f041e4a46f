"""The ingest worker: runs the engine's pipelines for a cluster, as many of them as it takes."""
