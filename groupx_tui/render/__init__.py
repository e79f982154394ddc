"""Layout of text into terminal rows: wrapping by cells, markdown, code, diffs, tool output.

May import rich (styles, segments) and textual.strip, never a widget, an app or the client's state:
text, a width and a `Palette` go in, `Row`s come out.
"""
