"""`python -m groupx_tui.cli` is the same program as `groupx`."""

from groupx_tui.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
