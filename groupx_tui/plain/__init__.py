"""The client line by line: for screen readers, dumb terminals and pipes."""
