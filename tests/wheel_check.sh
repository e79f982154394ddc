#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment, and uses the installed program as a
# stranger would: no checkout on the path, a home of its own, one question, one answer.
set -euo pipefail
python=${PYTHON:-python3}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
export GROUPX_HOME="$work/home" GROUPX_MODEL_DISCOVERY=0
stop() {
    if [ -x "$work/venv/bin/groupx" ]; then "$work/venv/bin/groupx" stop >/dev/null 2>&1 || true; fi
    rm -rf "$work"
}
trap stop EXIT

"$python" -m hatchling build -t wheel -d "$work/dist" >/dev/null 2>"$work/build.log" || {
    cat "$work/build.log" >&2
    exit 1
}
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --require-hashes -r "$root/requirements.txt"
"$work/venv/bin/python" -m pip install --quiet --no-deps "$work"/dist/groupx-*.whl
cd "$work"
"$work/venv/bin/groupx" --version
answer=$(echo hi | "$work/venv/bin/groupx" send --wait --timeout 60)
[ -n "$answer" ] || { echo "wheel-check: the installed program gave no answer" >&2; exit 1; }
lines=$("$work/venv/bin/groupx" export | wc -l)
[ "$lines" -ge 5 ] || { echo "wheel-check: the export has only $lines events" >&2; exit 1; }
"$work/venv/bin/groupx" stop
echo "wheel-check: the installed program answered ($lines events exported)"
