"""Widgets of the full-screen client, one per file."""
