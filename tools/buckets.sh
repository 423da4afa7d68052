#!/usr/bin/env bash
# Make one folder hold exactly the servers of buckets that a lock lists, with the hashes it gives.
#
#   tools/buckets.sh FOLDER LOCK_FOLDER
#
# npm does the fetching, from where its own settings say. What is there and right is kept.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1 lock=$2
say() { printf '%s\n' "$*" >&2; }

# The lock is copied last, so a folder that holds the same one was filled to its end.
is_right() { cmp --silent "$lock/package-lock.json" "$folder/.ready"; }

# Two makes at once must not fill one folder: the second waits, and finds the work done.
if command -v flock >/dev/null; then
  exec 9>".environment.lock"
  flock 9
fi
if is_right; then exit; fi
if ! command -v npm >/dev/null; then
  say "Node 20 or later with npm is needed to bring the servers of $lock (Debian: apt install npm)."
  exit 1
fi

started=$SECONDS
say "Bringing the servers of $lock into $folder (once) ..."
rm -rf "$folder"
mkdir -p "$folder"
cp "$lock/package.json" "$lock/package-lock.json" "$folder"
(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >&2)
cp "$lock/package-lock.json" "$folder/.ready"
say "Ready: $folder, in $((SECONDS - started)) s."
