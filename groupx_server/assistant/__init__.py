"""The room assistant: a side conversation, its program, and what it may do in the rooms."""
