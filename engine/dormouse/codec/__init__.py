"""The bytes of our own blobs: chunk plans, parts and change sets. Pure."""
