#!/usr/bin/env bash
# Runs the program as a user would: pipes, full disks, test vectors. One line a case:
# `smoke NAME ok` or `smoke NAME FAILED`. The argument is the program's file.
set -uo pipefail
lanecrypt=$(realpath -e "${1:?the file of the program}") || exit 1
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

smoke() {
    local name=$1
    shift
    if "$@" >"$work/out" 2>"$work/err"; then
        echo "smoke $name ok"
    else
        echo "smoke $name FAILED"
        head -n 5 "$work/out" "$work/err" | cut -c -200
        status=1
    fi
}

bytes_into_a_pipe() {
    [ "$("$lanecrypt" random 100000 | wc -c)" -eq 100000 ]
}

two_draws_differ() {
    [ "$("$lanecrypt" random 32 --format hex)" != "$("$lanecrypt" random 32 --format hex)" ]
}

# Endless output ends quietly, with success, when the reader goes.
closed_pipe() {
    "$lanecrypt" random 2>"$work/closed" | head -c 1000000 >/dev/null
    local codes=("${PIPESTATUS[@]}")
    [ "${codes[0]}" -eq 0 ] && [ ! -s "$work/closed" ]
}

# A full disk is an error that names the number of bytes that were written.
full_disk() {
    "$lanecrypt" random 1M >/dev/full 2>"$work/full"
    [ $? -eq 1 ] && [ "$(wc -l <"$work/full")" -eq 1 ] && grep -q 'after [0-9]* bytes' "$work/full"
}

# One line on standard error, nothing on standard output, exit code 2.
refused() {
    "$@" >"$work/refused.out" 2>"$work/refused.err" </dev/null
    [ $? -eq 2 ] && [ ! -s "$work/refused.out" ] && [ "$(wc -l <"$work/refused.err")" -eq 1 ]
}

bad_arguments() {
    refused "$lanecrypt" random much &&
        refused "$lanecrypt" nonsense &&
        refused env LANECRYPT_ISA=z80 "$lanecrypt" info
}

info() {
    "$lanecrypt" info </dev/null | grep -q 'Instruction set'
}

self_test() {
    "$lanecrypt" check --self-test
}

# The vectors shared with developers, as anybody's vectors: a request a line, an answer a line.
shared_vectors() {
    local file=$1
    # The right answers stay here.
    sed 's/"pt":/"op": "encrypt", "data":/; s/, "ct": "[^"]*"//' "$file" >"$work/requests"
    "$lanecrypt" check <"$work/requests" >"$work/answers" || return 1
    [ "$(wc -l <"$work/requests")" -eq "$(wc -l <"$work/answers")" ] || return 1
    awk -v streams='^(chacha(8|12|20)-(djb|ietf)|salsa20/(8|12|20)|hc128|arc4)$' \
        -v blocks='^((aes|serpent)-(128|192|256)|3?des)-(ecb|cbc|ctr)$' '
        function field(line, name) {
            if (!match(line, "\"" name "\": *\"[^\"]*\"")) return "-"
            line = substr(line, RSTART, RLENGTH - 1)
            sub("^[^:]*: *\"", "", line)
            return line
        }
        FNR == NR {
            algorithm[FNR] = field($0, "alg"); right[FNR] = field($0, "ct"); next
        }
        algorithm[FNR] ~ streams "|" blocks && right[FNR] != "-" {
            compared++
            if (field($0, "out") != right[FNR]) { print algorithm[FNR] ": " $0; wrong++ }
        }
        END { print compared + 0, "compared"; exit wrong > 0 || compared < 100 }
    ' "$file" "$work/answers"
}

smoke bytes_into_a_pipe bytes_into_a_pipe
smoke two_draws_differ two_draws_differ
smoke closed_pipe closed_pipe
smoke full_disk full_disk
smoke bad_arguments bad_arguments
smoke info info
smoke self_test self_test
shared=${LANECRYPT_SHARED:-../shared}/vectors/generated
if [ -f "$shared/stream.jsonl" ]; then
    smoke shared_vectors shared_vectors "$shared/stream.jsonl"
    smoke shared_block_vectors shared_vectors "$shared/block.jsonl"
else
    echo "SKIPPED shared-vectors: set LANECRYPT_SHARED to their folder"
fi
exit $status
