"""The one folder that holds everything: who owns it, and how others find the owner."""
