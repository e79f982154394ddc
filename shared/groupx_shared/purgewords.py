"""What is told of a purge while it runs, in the window and on the command line alike."""

from __future__ import annotations

from typing import Final

STAGE_WORDS: Final = {
    "removing": "Removing a text for good",
    "waiting": "The text is removed; its bytes wait for another purge",
    "index": "The text is removed; getting its bytes out of the search index",
    "rewriting": "The text is removed; writing the file anew, which is needed once",
    "wiping": "The text is removed; overwriting what is left of it in the file and its journal",
    "backups": "The text is removed; putting a backup of now in the place of the old ones",
    "checking": "The text is removed; looking for it in all files",
}
"""By stage (`wire.forgetting.PurgeStage`), those before the end."""
