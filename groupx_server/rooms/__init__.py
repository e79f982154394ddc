"""The use cases: rooms, turns, and the fan-out of events to those who listen."""
