"""Who is asking: keys, tokens, and the middleware that refuses before anything else happens."""
