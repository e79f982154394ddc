"""The schema as SQL files, one per version: `NNNN_name.sql`, applied in order, never changed."""
