"""Markdown, block by block: `scanner.py` cuts a stream into blocks, `chunk.py` lays one out.

Blocks are laid out apart from each other, so a growing answer costs its last block only.
"""
