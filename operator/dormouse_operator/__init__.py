"""The operator: puts workspaces of a cluster to sleep and wakes them. Only the laptop form exists so far."""
