"""The files of the workspace that a message can name after `@`: found, filtered, and matched."""
