#!/usr/bin/env bash
# Real programs with the provider and nothing but a configuration: nginx, HAProxy, curl, OpenSSH,
# PostgreSQL, Python, Node. What is not here is skipped by name. Ends with the counts.
#
#   openssl-programs.sh MODULE PROGRAM     lanecrypt.so, and the program `lanecrypt`
set -uo pipefail
LANECRYPT_MODULE=$(realpath "$1") || exit 1
LANECRYPT_PROGRAM=$(realpath "$2") || exit 1
export LANECRYPT_MODULE LANECRYPT_PROGRAM
cd "$(dirname "$0")/../surfaces/openssl/tests/programs"

for tool in python3 openssl nm; do
    if ! command -v "$tool" >/dev/null; then
        echo "SKIPPED openssl-programs: needs $tool"
        exit 0
    fi
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -v 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
awk '
    / \.\.\. ok$/ || /^ok$/ { passed++ }
    /^(FAIL|ERROR): / { failed++ }
    / \.\.\. skipped / { skipped++ }
    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$log"
exit "$status"
