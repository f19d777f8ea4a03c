#!/usr/bin/env bash
# Debian packages that the given names need, installed as root and otherwise asked for: packages.sh node chromium postgresql
set -euo pipefail

declare -A package=([node]="nodejs npm" [chromium]=chromium [postgresql]=postgresql [caddy]=caddy)

there() {
  case $1 in
    node) command -v node >/dev/null && command -v npm >/dev/null ;;
    postgresql) compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing=()
for name in "$@"; do
  there "$name" || missing+=(${package[$name]})
done

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "explorelab needs the Debian packages ${missing[*]}, which are not installed: install them, or run this as root." >&2
    exit 1
  fi
  echo "Installing ${missing[*]} ..."
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [[ " $* " == *" node "* ]] && ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)'; then
  echo "explorelab needs Node 20 or newer to build the participants' page, and $(node --version) was found: install a newer one." >&2
  exit 1
fi
