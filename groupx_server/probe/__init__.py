"""Trying agents out, apart from any running server; run as a child by the command line."""
