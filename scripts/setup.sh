#!/usr/bin/env bash
# Installs what the tests use beyond Rust, gcc and make: the packages of extras.txt that are missing.
set -euo pipefail
cd "$(dirname "$0")/.."

read -ra packages <<<"$(scripts/extras.sh missing | awk '{print $2}' | tr '\n' ' ')"
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
for package in "${packages[@]}"; do
    apt install "$package" || echo "setup: could not install $package" >&2
done

missing=$(scripts/extras.sh missing | awk '{print $2}' | tr '\n' ' ')
if [ -n "$missing" ]; then
    echo "setup: still missing: $missing" >&2
    exit 1
fi
echo "setup: done"
