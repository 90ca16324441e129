#!/usr/bin/env bash
# Reads extras.txt.
#
#   extras.sh                  the lines `name package used-by` of everything
#   extras.sh missing          of what this machine lacks
#   extras.sh missing test     of what this machine lacks of what `make test` uses
set -euo pipefail

list=$(dirname "$0")/extras.txt

# ldconfig lies in a folder that is not in every user's PATH.
libraries=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null || true)

is_here() {
    case $1 in
        cmd:*) PATH=$PATH:/sbin:/usr/sbin command -v "${1#cmd:}" >/dev/null ;;
        lib:*) grep -qF "${1#lib:} " <<<"$libraries" ;;
        file:*) [ -e "${1#file:}" ] ;;
        *) echo "extras.txt: neither cmd: nor lib: nor file: $1" >&2; exit 1 ;;
    esac
}

while read -r name package probe user; do
    case $name in '' | '#'*) continue ;; esac
    if [ "${1:-}" = missing ]; then
        if [ -n "${2:-}" ] && [ "$user" != "$2" ]; then continue; fi
        if is_here "$probe"; then continue; fi
    fi
    echo "$name $package $user"
done <"$list"
