#!/usr/bin/env bash
# Make one folder hold exactly the jars that a lock lists, with the hashes it gives.
#
#   tools/jars.sh FOLDER LOCK
#
# Maven does the fetching, from where its own settings say. What is there and right is kept.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1 lock=$2
say() { printf '%s\n' "$*" >&2; }

entries() { grep -vE '^[[:space:]]*(#|$)' "$lock"; }

# The lock as `sha256sum` reads it.
sums() { entries | sed -E 's/^[^:]+:([^:]+):([^ ]+) sha256:([0-9a-f]{64})$/\3  \1-\2.jar/'; }

# Whether exactly the locked jars are there.
is_right() {
  [ -d "$folder" ] && (cd "$folder" && sha256sum --quiet --check --strict) <<<"$(sums)" >/dev/null 2>&1 &&
    [ "$(find "$folder" -name '*.jar' | wc -l)" -eq "$(entries | wc -l)" ]
}

if entries | grep -qvE '^[A-Za-z0-9._-]+(:[A-Za-z0-9._-]+){2} sha256:[0-9a-f]{64}$'; then
  say "$lock: each line is group:artifact:version sha256:HASH."
  exit 1
fi
# Two makes at once must not fill one folder: the second waits, and finds the work done.
if command -v flock >/dev/null; then
  exec 9>".environment.lock"
  flock 9
fi
if is_right; then exit; fi
if ! command -v mvn >/dev/null; then
  say "Maven is needed to bring the jars of $lock (Debian: apt install maven)."
  exit 1
fi

started=$SECONDS
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
{
  echo '<project><modelVersion>4.0.0</modelVersion>'
  echo '<groupId>tests</groupId><artifactId>jars</artifactId><version>1</version><dependencies>'
  entries | sed -E 's#^([^:]+):([^:]+):([^ ]+) .*#<dependency><groupId>\1</groupId><artifactId>\2</artifactId><version>\3</version></dependency>#'
  echo '</dependencies></project>'
} >"$scratch/pom.xml"
say "Bringing the jars of $lock into $folder (once) ..."
rm -rf "$folder"
mvn --batch-mode --quiet --file "$scratch/pom.xml" dependency:copy-dependencies \
  -DexcludeTransitive=true -DoutputDirectory="$PWD/$folder" </dev/null >&2
if ! is_right; then
  say "$folder does not hold what $lock says:"
  (cd "$folder" && sha256sum --quiet --check --strict) <<<"$(sums)" >&2 || true
  rm -rf "$folder"
  exit 1
fi
say "Ready: $folder, in $((SECONDS - started)) s."
