#!/usr/bin/env bash
# Makes .venv with explorelab and what its tests and checks need; does nothing when that is already so.
# `scripts/setup.sh 3.13` makes .venv-3.13 with that Python instead, and ends with status 3 where there is none.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=${1:-}
venv=.venv${wanted:+-$wanted}
stamp=$venv/.explorelab-$(cat pyproject.toml constraints.txt scripts/setup.sh | sha256sum | cut -c1-16)
[ -e "$stamp" ] && exit 0

fits() {
  "$1" - "$wanted" >/dev/null 2>&1 <<'END'
import sys
have = "%d.%d" % sys.version_info[:2]
sys.exit(sys.version_info < (3, 12) or have != (sys.argv[1] or have))
END
}

find_python() {
  local candidate
  # A name on the PATH may be a shim that answers with an error, so each is tried. Newest first, but what is tested first of all.
  for candidate in "python${wanted:-3.12}" python3.13 python3.14 python3 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python /usr/local/bin/python3.1[2-9]; do
    if fits "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

python=$(find_python) || {
  [ -z "$wanted" ] || { echo "Python $wanted was not found." >&2; exit 3; }
  echo "explorelab needs Python 3.12 or newer, and none was found (looked for python3.12 to python3.14, python3 and pyenv's): install one." >&2
  exit 1
}

if ! "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
  package=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq "$package" >/dev/null
  else
    echo "explorelab needs the Debian package $package, which is not installed: install it, or run this as root." >&2
    exit 1
  fi
fi

echo "Setting up $venv with $("$python" --version) (once, about a minute) ..."
fits "$venv/bin/python" || rm -rf "$venv"
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,check]'
rm -f "$venv"/.explorelab-*
touch "$stamp"
