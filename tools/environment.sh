#!/usr/bin/env bash
# Make one virtual environment hold exactly what a lock says: names, versions and hashes.
#
#   tools/environment.sh FOLDER LOCK [--editable]
#
# uv does the installing. It lives in .tools/, comes by pip, and is locked as well.
# Where packages come from is the caller's choice: UV_* and PIP_* settings are respected.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1 lock=$2 editable=${3:-}
say() { printf '%s\n' "$*" >&2; }

suits() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
    2>/dev/null
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3}; do
    if suits "$candidate"; then
      command -v "$candidate"
      return
    fi
  done
  say "Python 3.11, 3.12 or 3.13 with its venv module is needed, and none was found${PYTHON:+ as '$PYTHON'}."
  say "Install one (Debian: apt install python3.11 python3.11-venv), or name it: make setup PYTHON=/path/to/python3.11"
  return 1
}

# pip's settings, said in uv's words where uv has none of its own.
respect_pip_settings() {
  local pip=.tools/bin/pip index
  if [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}${UV_CONFIG_FILE:-}" ]; then
    index=${PIP_INDEX_URL:-$("$pip" config get global.index-url 2>/dev/null || true)}
    if [ -n "$index" ]; then export UV_DEFAULT_INDEX=$index; fi
  fi
  if [ -z "${SSL_CERT_FILE:-}" ] && [ -n "${PIP_CERT:-}" ]; then export SSL_CERT_FILE=$PIP_CERT; fi
}

# Two makes at once must not fill one folder: the second waits, and finds the work done.
if command -v flock >/dev/null; then
  exec 9>".environment.lock"
  flock 9
fi

if [ "$folder" = .tools ]; then
  rm -rf .tools
  python=$(find_python)
  "$python" -m venv .tools
  .tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock"
  exit
fi

started=$SECONDS
python=$(find_python)
respect_pip_settings
say "Setting up $folder from $lock (once; about a minute) ..."
if ! suits "$folder/bin/python"; then
  .tools/bin/uv venv --quiet --clear --python "$python" "$folder"
fi
# Byte code now: PYTHONDONTWRITEBYTECODE would make every later import compile anew.
.tools/bin/uv pip sync --quiet --python "$folder/bin/python" --require-hashes --compile-bytecode "$lock"
if [ "$editable" = --editable ]; then
  .tools/bin/uv pip install --quiet --python "$folder/bin/python" --no-deps --no-build-isolation --editable .
fi
say "Ready: $folder, in $((SECONDS - started)) s."
