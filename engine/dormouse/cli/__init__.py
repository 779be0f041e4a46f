"""The `dormouse` command. It talks to the process that owns the data folder and opens no store itself."""
