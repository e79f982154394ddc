"""A model server on loopback for real agent programs, in four dialects; see `server`."""
