"""The clients: command line and full-screen terminal room; they meet the server on the wire only."""
