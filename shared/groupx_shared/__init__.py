"""What the server and its clients share: wire models, ids, settings, paths, text cleaning.

Depends on the standard library, pydantic and platformdirs only. Importing the package
runs nothing; `workspace`, `runtime`, `ids`, `errors` and `text` never load pydantic, so the hot
commands can use them.
"""
