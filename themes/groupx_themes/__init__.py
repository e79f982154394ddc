"""GroupX's own themes as data: one `.toml` each; docs/THEMES.md tells the keys. No logic."""
