#!/usr/bin/env bash
# Runs the quick tests with another Python than .venv's: `scripts/test-python.sh 3.13`. Where it is not installed, says so.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
status=0
scripts/setup.sh "$version" || status=$?
if [ "$status" = 3 ]; then
  echo "The tests with Python $version were skipped."
  exit 0
fi
[ "$status" = 0 ] || exit "$status"
exec ".venv-$version/bin/python" -m pytest -q -m quick -n "$(nproc)" --max-worker-restart 0 --dist loadfile
