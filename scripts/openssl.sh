#!/usr/bin/env bash
# Tests the OpenSSL provider: its test program with every libcrypto that is here, then real programs with
# nothing but a configuration: openssl, nginx, HAProxy, curl, OpenSSH, PostgreSQL, Python, Node. What is
# not here is skipped by name. Ends with the counts.
#
#   openssl.sh [NAME...]     tests of unittest, such as measure; without any, all tests
set -uo pipefail
cd "$(dirname "$0")/.."
read -ra everything <<<"$(cargo xtask selection)"

# The module as users have it. Its tests and the program are what `make test` has built.
cargo build --release --quiet --locked -p lanecrypt-openssl || exit 1
cargo test --release --no-run --quiet --locked "${everything[@]}" --test program --test provider || exit 1
target=$(realpath "${CARGO_TARGET_DIR:-target}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Servers that drop their privileges read the module, too.
chmod 755 "$work"
: >"$work/none.log"
cp "$target/release/liblanecrypt_openssl.so" "$work/lanecrypt.so"
export LANECRYPT_MODULE=$work/lanecrypt.so LANECRYPT_PROGRAM=$target/release/lanecrypt
export LANECRYPT_CERTIFICATE=$work PYTHONDONTWRITEBYTECODE=1
status=0

if [ $# -eq 0 ]; then
    cargo test --release --locked "${everything[@]}" --test provider 2>&1 | tee "$work/provider.log" || status=1
fi
if [[ $(openssl version 2>&1) != "OpenSSL "[3-9]* ]]; then
    echo "SKIPPED openssl-program: apt install openssl (3.0 or later)"
elif ! type python3 nm readelf >/dev/null 2>&1; then
    echo "SKIPPED openssl-programs: apt install python3 binutils"
else
    openssl req -x509 -newkey rsa:3072 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
        -keyout "$work/key.pem" -out "$work/certificate.pem" 2>/dev/null || exit 1
    cd surfaces/openssl/tests/programs || exit 1
    if [ $# -gt 0 ]; then
        python3 -m unittest -v "$@" 2>&1 | tee "$work/named.log" || status=1
    else
        # Three files at a time, because they often wait, and the largest first.
        ls -S test_*.py | xargs -P 3 -I FILE bash -c '
            python3 -m unittest -v FILE >"$0/FILE.log" 2>&1
            status=$?
            flock "$0" cat "$0/FILE.log"
            exit $status' "$work" || status=1
    fi
fi
sed -n "s/.* skipped ['\"]\(.*\)['\"]$/SKIPPED \1/p" "$work"/*.log | sort -u
awk -v status=$status '
    / \.\.\. ok$/ || /^ok$/ { passed++ }
    /^(FAIL|ERROR): / || / \.\.\. FAILED$/ { failed++ }
    / \.\.\. skipped / { skipped++ }
    END { printf "%d passed, %d failed, %d skipped\n", passed, failed + (status && !failed), skipped }
' "$work"/*.log
exit $status
