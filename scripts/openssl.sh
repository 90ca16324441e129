#!/usr/bin/env bash
# Tests the OpenSSL provider: its test program with every libcrypto that is here, and the program
# `openssl` with nothing but a configuration file. One end of each connection uses the module, the
# other OpenSSL's own provider. Ends with the counts.
set -uo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
passed=0
failed=0

# Says how a check went: its name, then the status of the command before.
report() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "openssl $1 ok"
    else
        failed=$((failed + 1))
        echo "openssl $1 FAILED"
    fi
}

if [ "${1-}" != --programs ]; then
    cargo test --release -p lanecrypt-openssl
    report "test program" $?
fi
cargo build --release --quiet -p lanecrypt-openssl || exit 1
if ! command -v openssl >/dev/null || [[ $(openssl version) != "OpenSSL "[3-9]* ]]; then
    echo "SKIPPED openssl-program: apt install openssl (3.0 or later)"
    echo "$passed passed, $failed failed"
    exit $((failed > 0))
fi

module=$target/release/liblanecrypt_openssl.so
cp "$module" "$work/lanecrypt.so"
[ "$(nm -D --defined-only "$module" | awk '{ print $3 }')" = OSSL_provider_init ]
report "exports its entry point and nothing else" $?
! readelf -d "$module" | grep -q 'NEEDED.*libcrypto'
report "does not link libcrypto" $?
readelf -d "$module" | grep -q NODELETE
report "stays loaded" $?

# The configuration: the module beside the default provider. Arguments: a file, more lines for the
# provider's section, and lines for that of random numbers.
configure() {
    cat >"$1" <<END
openssl_conf = init
[init]
providers = providers
alg_section = algorithms
random = random
[algorithms]
default_properties = ?provider=lanecrypt
[providers]
default = default_section
lanecrypt = lanecrypt_section
[default_section]
activate = 1
[lanecrypt_section]
module = $work/lanecrypt.so
activate = 1
$2
[random]
$3
END
}
: >"$work/count"
configure "$work/ours" "count = $work/count" ""
configure "$work/all" "count = $work/count" "random = LANECRYPT"
configure "$work/rsa" "count = $work/count
rsa = yes" ""
printf '' >"$work/none"

# `openssl` with the module, and without.
ours() { OPENSSL_CONF=$work/ours openssl "$@"; }
theirs() { OPENSSL_CONF=$work/none openssl "$@"; }

# The last counts of a process: contexts, messages, draws.
counted() { awk -v field="$1" '{ for (i = 1; i < NF; i++) if ($i == field) n += $(i + 1) } END { print n + 0 }' "$work/count"; }

# Files, one way with the module and back without it, and the other way round.
head -c 1000003 /dev/urandom >"$work/plain"
for cipher in aes-128-ctr aes-192-ctr aes-256-ctr aes-128-cbc aes-192-cbc aes-256-cbc; do
    for ends in "ours theirs" "theirs ours"; do
        read -r one other <<<"$ends"
        key=(-K "$(printf '%064d' 7 | head -c $((2 * ${cipher//[^0-9]/} / 8)))" -iv "$(printf '%032d' 5)")
        : >"$work/count"
        "$one" enc "-$cipher" "${key[@]}" -in "$work/plain" -out "$work/sealed" &&
            "$other" enc -d "-$cipher" "${key[@]}" -in "$work/sealed" -out "$work/opened" &&
            cmp -s "$work/plain" "$work/opened" && [ "$(counted messages)" -gt 0 ]
        report "enc $cipher, $ends" $?
    done
done

# Random numbers from the module.
: >"$work/count"
one=$(OPENSSL_CONF=$work/all openssl rand -hex 32) && two=$(OPENSSL_CONF=$work/all openssl rand -hex 32) &&
    [ ${#one} -eq 64 ] && [ "$one" != "$two" ] && [ "$(counted draws)" -gt 0 ]
report "rand" $?
OPENSSL_CONF=$work/all openssl genrsa 2048 2>/dev/null | theirs rsa -check -noout >/dev/null 2>&1
report "keys are made from its random numbers" $?

# RSA. Keys and certificates are made by one end, and used by the other.
rsa() { OPENSSL_CONF=$work/rsa openssl "$@"; }
pss=(-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest)
# Whether the module has signed or checked. Signatures of 2048 bits that are alone may be left to the
# default provider.
took_part() {
    [ $(($(counted signatures) + $(counted checks))) -gt 0 ] || [ "$*" = "rsa 2048" ]
}
for bits in 2048 3072 4096; do
    rsa genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:$bits -out "$work/key" 2>/dev/null &&
        theirs pkey -in "$work/key" -check -pubout -out "$work/public" >/dev/null 2>&1
    report "rsa $bits key" $?
    for hash in sha256 sha384 sha512; do
        for options in "" "${pss[*]}"; do
            read -ra options <<<"$options"
            for ends in "rsa theirs" "theirs rsa"; do
                read -r one other <<<"$ends"
                : >"$work/count"
                "$one" dgst -$hash "${options[@]}" -sign "$work/key" -out "$work/signature" "$work/plain" &&
                    "$other" dgst -$hash "${options[@]}" -verify "$work/public" \
                        -signature "$work/signature" "$work/plain" >/dev/null &&
                    ! "$other" dgst -$hash "${options[@]}" -verify "$work/public" \
                        -signature "$work/signature" "$work/count" >/dev/null 2>&1 &&
                    took_part "$one" "$bits"
                report "rsa $bits dgst $hash ${#options[@]}, $ends" $?
            done
        done
    done
    for ends in "rsa theirs" "theirs rsa"; do
        read -r one other <<<"$ends"
        : >"$work/count"
        "$one" req -x509 -newkey rsa:$bits -nodes -keyout "$work/other.key" -out "$work/other.pem" \
            -days 2 -subj /CN=localhost "${pss[@]}" >/dev/null 2>&1 &&
            "$other" verify -check_ss_sig -CAfile "$work/other.pem" "$work/other.pem" >/dev/null &&
            took_part "$one" "$bits"
        report "rsa $bits certificate, $ends" $?
    done
done
for hash in sha1 sha3-256 md5; do
    rsa dgst -$hash -sign "$work/key" -out "$work/signature" "$work/plain" &&
        theirs dgst -$hash -verify "$work/public" -signature "$work/signature" "$work/plain" >/dev/null
    report "rsa dgst $hash is handed on" $?
done
head -c 100 "$work/plain" >"$work/short"
rsa pkeyutl -encrypt -pubin -inkey "$work/public" -pkeyopt rsa_padding_mode:oaep -in "$work/short" \
    -out "$work/sealed" &&
    theirs pkeyutl -decrypt -inkey "$work/key" -pkeyopt rsa_padding_mode:oaep -in "$work/sealed" |
    cmp -s - "$work/short"
report "rsa encryption is handed on" $?
rsa rsa -in "$work/key" -aes256 -passout pass:x -out "$work/encrypted" 2>/dev/null &&
    theirs rsa -in "$work/encrypted" -passin pass:x -check -noout >/dev/null 2>&1
report "rsa keys are written" $?

# Its own measurement.
for cipher in aes-128-gcm aes-256-gcm chacha20-poly1305 aes-128-ctr aes-256-cbc; do
    : >"$work/count"
    ours speed -elapsed -seconds 1 -bytes 64 -evp "$cipher" >/dev/null 2>&1 && [ "$(counted messages)" -gt 0 ]
    report "speed $cipher" $?
done

# What happens without the module, and with settings that ask for more than there is.
mv "$work/lanecrypt.so" "$work/away"
ours rand -hex 16 >/dev/null 2>&1
report "without the module, what does not ask for it goes on" $((! $? ? 0 : 1))
! OPENSSL_CONF=$work/all openssl rand -hex 16 >/dev/null 2>&1
report "without the module, its generator is missed" $?
mv "$work/away" "$work/lanecrypt.so"
echo 'not a module' >"$work/other.so"
sed "s|$work/lanecrypt.so|$work/other.so|" "$work/ours" >"$work/wrong"
echo | OPENSSL_CONF=$work/wrong openssl dgst -sha256 >/dev/null 2>&1
wrong=$?
rm "$work/other.so"
sed "s|$work/lanecrypt.so|$work/other.so|" "$work/ours" >"$work/wrong"
echo | OPENSSL_CONF=$work/wrong openssl dgst -sha256 >/dev/null 2>&1
[ $? -eq "$wrong" ]
report "a file that is no module is like none" $?
configure "$work/nowhere" "count = $work/not-there" ""
OPENSSL_CONF=$work/nowhere openssl enc -aes-128-ctr -K 00 -iv 00 -in "$work/plain" -out "$work/sealed" 2>/dev/null &&
    [ ! -e "$work/not-there" ]
report "a count that cannot be written changes nothing" $?

# TLS: every suite, each end once with the module. What the server echoes must be what was sent.
theirs req -x509 -newkey rsa:3072 -nodes -keyout "$work/rsa.key" -out "$work/rsa.pem" -days 2 \
    -subj /CN=localhost >/dev/null 2>&1
theirs req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/ec.key" \
    -out "$work/ec.pem" -days 2 -subj /CN=localhost >/dev/null 2>&1
# Lines, because the server turns each round; small letters, because the client takes others for
# commands.
head -c 21000 "$work/plain" | od -A n -v -t x1 -w35 | tr -d ' ' >"$work/lines"
rev "$work/lines" >"$work/turned"
# A server for one connection, after the one that asks whether it is there: the end, then its
# arguments. Each has a port of its own, so that no other answers.
port=$((20000 + $$ % 20000))
# What the server does: it turns lines round, or serves the files of its folder.
does=-rev
serve() {
    local end=$1
    shift
    for _ in $(seq 20); do
        port=$((port + 1))
        if (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then continue; fi
        (cd "$work" && OPENSSL_CONF=$work/$end exec timeout 60 openssl s_server -quiet $does -naccept 2 \
            -accept "127.0.0.1:$port" -cert "$work/rsa.pem" -key "$work/rsa.key" \
            -dcert "$work/ec.pem" -dkey "$work/ec.key" "$@") >"$work/server.log" 2>&1 &
        server=$!
        for _ in $(seq 100); do
            if (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return 0; fi
            kill -0 "$server" 2>/dev/null || break
            sleep 0.02
        done
    done
    return 1
}

# One connection: the end of the client, then its arguments. Both programs end by themselves, so that
# they leave their counts.
connect() {
    local end=$1 client writer status
    shift
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in" "$work/out"
    OPENSSL_CONF=$work/$end timeout 10 openssl s_client -quiet -no_ign_eof \
        -connect "127.0.0.1:$port" "$@" <"$work/in" >"$work/out" 2>"$work/client.log" &
    client=$!
    exec 7>"$work/in"
    cat "$work/lines" >&7 &
    writer=$!
    exec 8<"$work/out"
    timeout 10 head -n "$(wc -l <"$work/lines")" <&8 | cmp -s - "$work/turned"
    status=$?
    wait "$writer"
    exec 7>&- 8<&-
    wait "$client" "$server" 2>/dev/null
    server=
    [ "$status" -eq 0 ] || tail -n 3 "$work/client.log"
    return "$status"
}

# A file from a server that serves files: the end of the client, then its arguments.
fetch() {
    local end=$1 status
    shift
    printf 'GET /short HTTP/1.0\r\n\r\n' |
        OPENSSL_CONF=$work/$end timeout 10 openssl s_client -quiet -connect "127.0.0.1:$port" "$@" \
            2>"$work/client.log" | tail -c 100 | cmp -s - "$work/short"
    status=$?
    wait "$server" 2>/dev/null
    server=
    return "$status"
}

# A suite with the module on one end: the name of the check, the suite, further arguments.
suite() {
    local name=$1 suite=$2
    shift 2
    : >"$work/count"
    serve "$one" -cipher 'ALL:@SECLEVEL=0' && connect "$other" "$@"
    local status=$?
    # The module has been used. OpenSSL prefers ciphers of its own for CBC with a code inside.
    case $suite in *GCM* | *CHACHA*) [ "$(counted messages)" -gt 0 ] || status=1 ;; esac
    report "$name $suite, $one $other" "$status"
}

suites() {
    theirs ciphers -s -"$1" 'ALL:@SECLEVEL=0' 2>/dev/null | tr : '\n' | grep -E "$2"
}
cp "$work/none" "$work/theirs"
for ends in "ours theirs" "theirs ours"; do
    read -r one other <<<"$ends"
    for name in TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256; do
        suite "TLS 1.3" "$name" -tls1_3 -ciphersuites "$name"
    done
    for name in $(suites tls1_2 'ECDHE-(RSA|ECDSA)-(AES|CHACHA)|^AES(128|256)-'); do
        case $name in *CCM*) continue ;; esac
        suite "TLS 1.2" "$name" -tls1_2 -cipher "$name:@SECLEVEL=0"
        # Without encrypt-then-MAC, CBC has the code inside.
        case $name in *GCM* | *CHACHA*) continue ;; esac
        suite "TLS 1.2 without encrypt-then-MAC" "$name" -tls1_2 -no_etm -cipher "$name:@SECLEVEL=0"
    done
done

# Handshakes: RSA of ours on one end, with the paddings of both versions, and with jobs of the server.
for ends in "rsa theirs" "theirs rsa"; do
    read -r one other <<<"$ends"
    for jobs in "" -async; do
        for arguments in "-tls1_3 -sigalgs RSA-PSS+SHA256" "-tls1_3 -sigalgs RSA-PSS+SHA512" \
            "-tls1_2 -sigalgs RSA+SHA256" "-tls1_2 -sigalgs RSA-PSS+SHA384" \
            "-tls1_2 -sigalgs RSA+SHA1 -cipher ALL:@SECLEVEL=0" \
            "-tls1_2 -cipher AES256-SHA:@SECLEVEL=0"; do
            read -ra arguments <<<"$arguments"
            : >"$work/count"
            # What turns lines round does not know jobs.
            if [ -n "$jobs" ]; then does=-WWW use=fetch; else does=-rev use=connect; fi
            serve "$one" -cipher 'ALL:@SECLEVEL=0' $jobs && "$use" "$other" "${arguments[@]}"
            status=$?
            # The server signs, but not with SHA-1 or where the client encrypts to its key.
            case "${arguments[*]}" in
                *SHA1* | *AES256-SHA*) ;;
                *) [ $(($(counted signatures) + $(counted checks))) -gt 0 ] || status=1 ;;
            esac
            report "TLS with RSA, ${arguments[*]} $jobs, $one $other" "$status"
        done
    done
done

# Memory: what is read before it is written, what is used after its end, what is lost.
if command -v valgrind >/dev/null; then
    configure "$work/memory" "rsa = yes" "random = LANECRYPT"
    watched() {
        OPENSSL_CONF=$work/memory valgrind -q --error-exitcode=9 --leak-check=full \
            --errors-for-leak-kinds=definite openssl "$@" >/dev/null 2>&1
    }
    theirs genrsa -out "$work/key" 3072 2>/dev/null
    watched enc -aes-128-ctr -K 00112233445566778899aabbccddeeff -iv 00 -in "$work/plain" \
        -out "$work/sealed"
    report "valgrind enc" $?
    watched dgst -sha256 -sign "$work/key" -out "$work/signature" "$work/plain"
    report "valgrind dgst -sign" $?
    watched dgst -sha256 -prverify "$work/key" -signature "$work/signature" "$work/plain"
    report "valgrind dgst -prverify" $?
    does=-rev
    serve theirs && watched s_client -connect "127.0.0.1:$port" </dev/null
    report "valgrind s_client" $?
else
    echo "SKIPPED valgrind: apt install valgrind"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
