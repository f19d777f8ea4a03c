#!/usr/bin/env bash
# Builds the participants' and the researcher's page into the package; does nothing when they are already built from these sources.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -e page/node_modules ] && python3 scripts/page.py --check && exit 0
scripts/packages.sh node
echo "Building the page (once, about half a minute) ..."
python3 scripts/page.py
