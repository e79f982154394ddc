"""The screens: the room, and the dialogs over it. One screen a file."""
