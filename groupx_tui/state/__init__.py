"""What the client knows, as pure data, and how events change it. No Textual, no I/O."""
