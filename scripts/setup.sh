#!/usr/bin/env bash
# Installs what the tests use beyond Rust, gcc and make: the packages of extras.txt that are missing.
#
#   setup.sh                  installs them
#   setup.sh missing [USER]   prints a line for each that is missing: of all, or of what USER uses
set -euo pipefail
cd "$(dirname "$0")/.."

# Programs and libraries of administrators lie in folders that are not in every user's PATH.
PATH=$PATH:/sbin:/usr/sbin

is_here() {
    case $1 in
        cmd:*) command -v "${1#cmd:}" >/dev/null ;;
        lib:*) grep -qF "${1#lib:} " <<<"$libraries" ;;
        file:*) [ -e "${1#file:}" ] ;;
        *) echo "extras.txt: neither cmd: nor lib: nor file: $1" >&2; exit 1 ;;
    esac
}

missing() {
    local name package probe user libraries
    libraries=$(ldconfig -p 2>/dev/null || true)
    while read -r name package probe user; do
        case $name in '' | '#'*) continue ;; esac
        if [ "${1:-$user}" = "$user" ] && ! is_here "$probe"; then
            echo "SKIPPED $name: apt install $package"
        fi
    done <scripts/extras.txt
}

if [ "${1-}" = missing ]; then
    missing "${2-}"
    exit
fi
read -ra packages <<<"$(missing | awk '{print $NF}' | tr '\n' ' ')"
if [ ${#packages[@]} -eq 0 ]; then
    echo "setup: everything is here"
    exit 0
fi
if ! command -v apt-get >/dev/null; then
    echo "setup: needs apt-get (Debian, Ubuntu). Elsewhere install what these packages hold:" \
        "${packages[*]}" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: run as root: apt-get install ${packages[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"
}
apt update || echo "setup: apt-get update failed; trying with the lists that are here" >&2
# One package that a release of the system does not have must not keep the others away.
apt install "${packages[@]}" ||
    for package in "${packages[@]}"; do
        apt install "$package" || echo "setup: could not install $package" >&2
    done
still=$(missing)
if [ -n "$still" ]; then
    echo "setup: still missing:" >&2
    echo "$still" >&2
    exit 1
fi
echo "setup: done"
