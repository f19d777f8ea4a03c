#!/usr/bin/env bash
# A study from its folder to its report: made, shortened, played by 40 robots over the real interface, exported, reported on.
set -euo pipefail
out=$1
explorelab=$(dirname "$0")/../.venv/bin/explorelab

rm -rf "$out"
mkdir -p "$(dirname "$out")"
"$explorelab" study init "$out" >/dev/null
# The paper's design with clocks of a sixth to a quarter of a second: robots do not need to think.
sed -i -E 's/^(fast *= *)[0-9]+/\1160/; s/^(slow *= *)[0-9]+/\1240/' "$out/study.toml"
"$explorelab" study pilot "$out" --people 40
"$explorelab" study export "$out" --out "$out/data" --pilots only
"$explorelab" check "$out/data/choices.csv"
"$explorelab" report "$out/data/choices.csv" --out "$out/report.html" --agents stochastic-ucl,situated-ucl,random-choice --starts 2
