"""A store made anew from the catalog and the blobs: every applied change is followed once more."""
