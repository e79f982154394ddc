"""The timeline: one widget that draws a room, line by line.

`widget.py` holds `Timeline`, what the app mounts; `messages.py` what it posts; `pacing.py` the
`FramePacer` that decides when a frame is drawn. The rest are parts of the widget.
"""
