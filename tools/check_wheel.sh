#!/usr/bin/env bash
# Build the wheel and test what is shipped: alone, and with each extra, away from the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD uv=$PWD/.tools/bin/uv python=$PWD/.venv/bin/python
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"   # the checkout must not be importable

"$python" -m build --wheel --no-isolation --outdir "$scratch/dist" "$root" >"$scratch/build.log" 2>&1 ||
  { cat "$scratch/build.log" >&2; exit 1; }
wheel=$(ls "$scratch"/dist/ubunye_receipts-*.whl)

# A fresh environment with the wheel, its extras, and the versions of the lock.
install_with() {
  local name=$1 extras=$2
  shift 2
  "$uv" venv --quiet --python "$python" "$scratch/$name"
  "$uv" pip install --quiet --python "$scratch/$name/bin/python" "$@" "$wheel$extras"
}
prove() {
  local name=$1
  shift
  AIRFLOW_HOME="$scratch/airflow" "$scratch/$name/bin/python" -I "$root/tools/check_wheel.py" "$@"
}
locked=(--constraint "$root/requirements/dev.lock")

install_with alone "" "${locked[@]}"
prove alone
install_with arrow "[arrow]" "${locked[@]}"
prove arrow arrow
install_with pandas "[pandas]" "${locked[@]}"
prove pandas arrow pandas
install_with web "[web]" "${locked[@]}"
prove web web
# Both schedulers together, as their users have them: with byte code, or their imports take minutes.
install_with all "[all]" --compile-bytecode "${locked[@]}"
prove all arrow pandas airflow dagster web
# The oldest versions we say we support, so that the lower bounds are true.
install_with oldest "" --resolution lowest-direct
prove oldest
