#!/usr/bin/env bash
# Checks every crate of the workspace without features and with each of its features alone: none may
# rest on another that it does not name. A feature that no file of the crate asks for only turns on
# those of other crates, where it is checked. Arguments go to cargo, such as --locked.
set -uo pipefail
cd "$(dirname "$0")/.."

features() {
    awk '/^\[/ { inside = $0 == "[features]"; next }
        inside && /^[a-z]/ && $1 != "default" { print $1 }' "$1/Cargo.toml"
}

status=0
check() {
    echo "features: $*"
    # Clippy, because its flags need no second build of everything, and only for what is switched by
    # features: the lints of style would judge code of which a switch left a rest.
    cargo clippy --quiet "${locked[@]}" --no-default-features "$@" -- -D warnings -A clippy::all ||
        status=1
}

locked=("$@")
for crate in $(sed -n 's/^members = \[\(.*\)\]$/\1/p' Cargo.toml | tr -d '",'); do
    name=$(sed -n 's/^name = "\(.*\)"$/\1/p' "$crate/Cargo.toml" | head -n 1)
    check -p "$name"
    for feature in $(features "$crate"); do
        if grep -rq "feature = \"$feature\"" "$crate/src"; then
            check -p "$name" --features "$feature"
        fi
    done
done
exit $status
