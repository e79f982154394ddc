"""The composer: where a person writes.

`composer.py` holds `Composer`, what the app mounts; `editor.py` the text area in it; `popup.py`
the list of completions. The rest is pure: `targets` (who gets it), `completion` (what can be
taken), `slash` (what is a command), `history` (what was sent before).
"""
