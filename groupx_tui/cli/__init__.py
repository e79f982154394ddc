"""The command line: `groupx send`, `tail`, `status` and the rest.

stdout is data and only `output` writes it; stderr is narration and only `diagnostics` writes it.
Every command is declared once, in `commands`. `fastparse` reads plain command lines with the
standard library alone; help, completion and wrong command lines go to `surface` (typer).
"""
