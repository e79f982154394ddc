"""The web view: the same client in a browser on this machine, for who was handed a link."""
