#!/usr/bin/env bash
# Builds the participants' and the researcher's page into the package; does nothing when they are already built from these sources.
set -euo pipefail
cd "$(dirname "$0")/.."

built=src/explorelab/study/static
sum=$(cd page && find . -path ./node_modules -prune -o -path ./dist -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
[ -e "$built/.built-$sum" ] && [ -e page/node_modules ] && exit 0

scripts/packages.sh node
echo "Building the page (once, about half a minute) ..."
(cd page && npm ci --silent --no-audit --no-fund && npm run --silent build)
rm -f "$built"/.built-*
touch "$built/.built-$sum"
