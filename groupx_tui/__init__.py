"""The clients: command line and full-screen room; they meet the server on the wire only."""
