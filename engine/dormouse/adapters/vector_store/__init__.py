"""The vectors, as a Qdrant shard in this process."""
