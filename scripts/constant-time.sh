#!/usr/bin/env bash
# Checks that the kernels, and openings with an HMAC, are constant time, as the release profile
# builds them, in four ways: memcheck with secrets undefined, for what Valgrind knows; instruction
# by instruction with two sets of secrets, for what it does not; the same by the clock; and the
# disassembly, for instructions that no kernel may have. Each must first find the leaks that
# kernels/tests/constant_time/planted.rs plants. Arguments go to cargo.
set -uo pipefail
cd "$(dirname "$0")/.."
source scripts/selection.sh

if [ "$(uname -m)" != x86_64 ]; then
    echo "SKIPPED constant-time: needs an x86-64 processor"
    exit 0
fi
for tool in valgrind:valgrind objdump:binutils; do
    if ! command -v "${tool%:*}" >/dev/null; then
        echo "SKIPPED constant-time: apt install ${tool#*:}"
        exit 0
    fi
done

# With bitsliced DES, which goes by `legacy` because short requests take tables.
built=$(cargo test --color never --release "${libraries[@]}" --test constant_time --no-run "$@" 2>&1) ||
    { echo "$built"; exit 1; }
program=$(sed -n 's/.*Executable .*(\(.*\))$/\1/p' <<<"$built")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

fail() {
    echo "FAILED constant-time: $*"
    status=1
}

# Only that setting a key wipes the stack below the stack pointer; not what depends on secrets.
cat >"$work/suppressions" <<'END'
{
    wiping
    Memcheck:Addr8
    fun:*lanecrypt_kernels*wipe*SetUp*
}
END

# Sums of partly unknown numbers need the expensive checks.
memcheck() {
    valgrind -q --error-limit=no --expensive-definedness-checks=yes --num-callers=4 \
        --suppressions="$work/suppressions" --log-file="$work/memcheck.log" "$program" "$1"
}

echo "With secrets undefined (valgrind memcheck)"
memcheck memcheck-planted || fail "memcheck misses a planted leak"
if ! memcheck memcheck-kernels; then
    fail "memcheck reports:"
    head -n 60 "$work/memcheck.log"
fi

objdump -d -C -M intel --no-show-raw-insn "$program" >"$work/disassembly"

# Where the two runs parted, each instruction that takes an address from a register that differed,
# and each jump on flags that differed. Prints `NAME LEVEL: leak: ...`, then `NAME LEVEL outcome`.
judge() {
    awk '
        # Only what is in the trace: the disassembly is long.
        pass == 1 {
            if ($3 == "registers" || $3 == "branch") wanted[$4] = 1
            next
        }
        pass == 2 {
            if ($0 ~ /^[0-9a-f]+ </) { inside = substr($0, index($0, "<")); next }
            at = $1; sub(/:$/, "", at)
            if (at in wanted) {
                text[at] = $0; place[at] = inside
                memory = ""
                # lea and nop only look as if they read memory.
                if ($0 !~ /\t(lea|nop|cs nop|data16)/ && match($0, /\[[^]]*\]/))
                    memory = substr($0, RSTART + 1, RLENGTH - 2)
                gsub(/[^a-z0-9]/, " ", memory)
                # What a leak would be here: these differing.
                uses[at] = " " memory " "
                if ($2 ~ /^j/ && $2 != "jmp") uses[at] = uses[at] "flags "
                if ($2 ~ /^j(a|ae|b|be|c|nc)$/) uses[at] = uses[at] "carry "
            }
            next
        }
        function leak(what) { printf "%s %s: %s: %s%s\n", $1, $2, what, place[$4], text[$4]; leaks++ }
        $3 == "branch" { leak("branch") }
        $3 == "registers" && ($4 in uses) {
            for (i = 5; i <= NF; i++) if (index(uses[$4], " " $i " ")) {
                leak($i ~ /^(flags|carry)$/ ? "branch" : "address")
                break
            }
        }
        $3 == "unavailable" { printf "%-14s %-9s not available on this processor\n", $1, $2 }
        $3 == "end" { printf "%-14s %-9s %s\n", $1, $2, leaks ? "LEAKS" : "clean"; leaks = 0 }
    ' pass=1 "$work/trace" pass=2 "$work/disassembly" pass=3 "$work/trace"
}

echo
echo "Run twice with other secrets, instruction by instruction"
if "$program" trace-planted >"$work/trace" 2>"$work/errors"; then
    judge >"$work/judged"
    # By kind of leak, in the function of that name.
    for leak in table:address branch:branch early_return:branch length:branch extraction:address; do
        name=${leak%:*}
        if grep -q "^${name/_/-} planted: ${leak#*:}: <constant_time::planted::$name>" "$work/judged"; then
            echo "planted ${name/_/-}: found"
        else
            echo "planted ${name/_/-}: NOT FOUND"
            fail "the trace misses a planted leak"
        fi
    done
    if "$program" trace-kernels >"$work/trace" 2>"$work/errors"; then
        judge | tee "$work/judged"
        if grep -q ' LEAKS$' "$work/judged"; then fail "the trace shows leaks"; fi
    else
        fail "$(cat "$work/errors")"
    fi
else
    fail "$(cat "$work/errors")"
fi

echo
echo "By the clock, fixed inputs against random ones"
"$program" timing-planted || fail "the clock misses a planted leak"
"$program" timing-kernels || fail "the clock tells inputs apart"

# Instructions whose time or addresses depend on vectors, and those that carry vectors into flags.
forbidden() {
    awk -v functions="$1" '
        /^[0-9a-f]+ </ {
            inside = substr($0, index($0, "<")); checked = inside ~ functions
            seen += checked; next
        }
        !checked || NF < 2 { next }
        $2 ~ /^(vp?gather|vp?scatter)/ { rule = "gather" }
        $2 ~ /^i?div$/ { rule = "division" }
        # Not vptestm, whose answer is a vector of bits and no flag.
        $2 ~ /^(v?ptest$|vtestp|kortest|ktest|v?movmskp|v?pmovmskb|v?u?comis|v?pcmp[ei]str)/ {
            rule = "flags"
        }
        rule { printf "%s: %s%s\n", rule, inside, $0; rule = "" }
        END { print "functions", seen + 0 }
    ' "$work/disassembly"
}

echo
echo "Disassembly"
for rule in gather division flags; do
    if forbidden "^<constant_time::planted::forbidden::" | grep -q "^$rule: .*::$rule>"; then
        echo "planted $rule: found"
    else
        echo "planted $rule: NOT FOUND"
        fail "the disassembly does not show a planted instruction"
    fi
done
for core in chacha salsa arx poly1305 chacha20poly1305 aes ghash gcm xts serpent des montgomery; do
    for file in kernels/src/$core/*.rs; do
        module=$(basename "$file" .rs)
        case $core::$module in
            # Macros, of which each kernel has its own functions; and what runs in the compiler.
            serpent::circuit | serpent::modes | des::spec) continue ;;
            chacha::rounds | salsa::rounds | arx::words) continue ;;
            # Inlined into the others, everywhere.
            poly1305::limbs | poly1305::portable | chacha20poly1305::parts) continue ;;
            # By tables, as its documentation says.
            des::scalar) continue ;;
        esac
        found=$(forbidden "lanecrypt_kernels::$core::$module::")
        count=$(sed -n 's/^functions //p' <<<"$found")
        if [ "$count" -eq 0 ]; then
            fail "no function of $core::$module is in the program"
        elif [ "$(wc -l <<<"$found")" -eq 1 ]; then
            printf '%-14s %-9s clean, %d functions\n' "$core" "$module" "$count"
        else
            grep -v '^functions' <<<"$found"
            fail "forbidden instructions in $core::$module"
        fi
    done
done
# What openings with an HMAC are made of. Only their lengths are divided, in the functions that are
# not named here.
for part in hmac:'lanecrypt_ciphers::hmac' sha1:'<sha1::' sha2:'<sha2::'; do
    found=$(forbidden "${part#*:}")
    count=$(sed -n 's/^functions //p' <<<"$found")
    if [ "$count" -eq 0 ]; then
        fail "no function of ${part%%:*} is in the program"
    elif [ "$(wc -l <<<"$found")" -eq 1 ]; then
        printf '%-24s clean, %d functions\n' "${part%%:*}" "$count"
    else
        grep -v '^functions' <<<"$found"
        fail "forbidden instructions in ${part%%:*}"
    fi
done
exit $status
