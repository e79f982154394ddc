"""The guide: what the built-in agent does without a model, on the room's own data."""
