"""Dormouse: shared, long-term memory for AI agents, as a library that knows no HTTP, Kafka or Kubernetes."""
