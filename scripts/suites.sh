#!/usr/bin/env bash
# Runs the test suites of other projects with our ciphers in place of theirs. On request only: they need
# the network and many minutes, and what they build stays in `target/suites`. Ends with the counts.
#
#   suites.sh openssl [SUITE]  evp_test with all its data and the recipes that use ciphers, of the source
#                              package in Debian's SUITE (default bookworm: OpenSSL 3.0; sid: the newest)
#   suites.sh cpython          the tests of CPython that use OpenSSL (Debian: libpython3-testsuite)
#   suites.sh pyca             the tests of AEADs of the package cryptography, with the package lanecrypt
#   suites.sh rustcrypto       the tests of RustCrypto's AEADs, with our types
#
# A recipe or test that also fails without Lanecrypt is named and not counted. What differs by intent
# is in surfaces/openssl/README.md, surfaces/python/README.md and the documentation of `rustcrypto`.
set -uo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/suites"
target=$(cd "$target" && pwd)
suites=$target/suites
repository=$PWD
passed=0 failed=0

stop() {
    echo "suites: $1" >&2
    exit 1
}

# The module as users have it, and an empty file for its counts.
module() {
    cargo build --release --quiet --locked -p lanecrypt-openssl || stop "the provider does not build"
    cp "$target/release/liblanecrypt_openssl.so" "$suites/lanecrypt.so"
    : >"$suites/count"
}

# Adds the provider to a configuration file, whose list of providers may be a comment.
activate() {
    [ -e "$1.before" ] || cp "$1" "$1.before"
    {
        sed -E 's/^# *(providers = provider_sect|\[provider_sect\]|default = default_sect)/\1/
            s/^# *(\[default_sect\]|activate = 1)/\1/
            s/^\[ *provider_sect *\]/&\nlanecrypt = lanecrypt_module/
            s/^\[ *openssl_init *\]/&\nalg_section = lanecrypt_algorithms/' "$1.before"
        printf '\n[lanecrypt_module]\nmodule = %s\nactivate = 1\ncount = %s\n' "$suites/lanecrypt.so" "$suites/count"
        printf '[lanecrypt_algorithms]\ndefault_properties = ?provider=lanecrypt\n'
    } >"$1"
    grep -q '^lanecrypt = ' "$1" && grep -q '^alg_section = ' "$1" || stop "$1 has another form"
}

# The source package of Debian, checked by apt, in target/suites/openssl-SUITE; built once.
openssl_source() {
    local suite=$1 place=$suites/openssl-$1 list
    [ -e "$place/built" ] && return
    rm -rf "$place"
    mkdir -p "$place/lists/partial"
    list=$place/sources.list
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" >"$list"
    (
        cd "$place" || exit
        apt=(-o "Dir::Etc::SourceList=$list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$place/lists"
            -o "Dir::Cache=$place" -o APT::Sandbox::User=root)
        apt-get -qq "${apt[@]}" update && apt-get -qq "${apt[@]}" --download-only source openssl &&
            dpkg-source --no-check -x ./*.dsc source
    ) >"$place/log" 2>&1 || stop "no source package; see $place/log"
    echo "suites: building $(cd "$place" && ls ./*.dsc) (some minutes)"
    (cd "$place/source" && ./config enable-legacy && make -s -j2) >"$place/log" 2>&1 ||
        stop "OpenSSL does not build; see $place/log"
    touch "$place/built"
}

# The recipes that reach a cipher, a MAC over one, random numbers or RSA.
recipes=(test_evp test_evp_extra test_evp_fetch_prov test_evp_libctx test_evp_pkey_provided test_enc test_enc_more
    test_aesgcm test_bio_enc test_cipherbytename test_cipherlist test_ciphername test_clienthello
    test_cms test_cmsapi test_cmp_http test_dane test_dtls test_dtls_mtu test_dtlsv1listen test_drbg_cavs
    test_external_tls_provider test_fatalerr test_gendsa test_genec test_genrsa test_key_share test_namemap
    test_ossl_store test_pem_reading test_pkcs12 test_pkcs12_api test_provider test_provider_fallback
    test_provider_pkey test_quic_record test_quicapi test_rand test_rand_status test_recordlen test_renegotiation
    test_rsa test_rsaoaep test_rsapss test_servername test_serverinfo test_smime test_ssl_ctx test_ssl_new
    test_ssl_old test_ssl_test_ctx test_sslapi test_sslbuffers test_sslcorrupt test_sslrecords
    test_sslsessiontick test_sslsigalgs test_sslversions test_threads test_tls13ccs test_tls13encryption
    test_tls13hrr test_tls13kexmodes test_tls13messages test_tls13psk test_tls13secrets test_tlsextms
    test_x509)

# What differs by intent, function by function: without its tag, a message of ChaCha20-Poly1305 is not
# opened; and providers are configured where a test expects none, or none but the default one.
differences='test_decrypt_null_chunks
test_bio_enc_chacha20_poly1305
test_alternative_default
test_provider_unload_effective
test_explicit_EVP_CIPHER_fetch_by_name
test_explicit_EVP_CIPHER_fetch_by_X509_ALGOR'

# Whether functions of a recipe failed, and only those that differ by intent. Argument: its output.
differs() {
    local names
    names=$(sed -n 's/^ *not ok [0-9]* - \(test_[A-Za-z0-9_]*\).*/\1/p' "$1" | sort -u)
    [ -n "$names" ] && ! grep -vxF "$differences" <<<"$names" >/dev/null
}

# Runs one recipe of the suite in the current folder; its output is the last argument's file.
recipe() {
    make -s test TESTS="$1" V=1 >"$2" 2>&1
}

openssl_suite() {
    local suite=${1:-bookworm} place name known file
    local files=(test/default.cnf test/default-and-legacy.cnf apps/openssl.cnf)
    module
    openssl_source "$suite"
    place=$suites/openssl-$suite
    cd "$place/source" || exit
    LD_LIBRARY_PATH=. apps/openssl version
    mkdir -p "$place/logs"
    for file in "${files[@]}"; do
        activate "$file"
    done
    known=$(make -s list-tests 2>/dev/null | tr -s ' ' '\n')
    for name in "${recipes[@]}"; do
        grep -qx "$name" <<<"$known" || continue
        if recipe "$name" "$place/logs/$name"; then
            passed=$((passed + 1))
            continue
        elif differs "$place/logs/$name"; then
            echo "differs by intent: $name"
            continue
        fi
        # Once more with OpenSSL's own ciphers.
        for file in "${files[@]}"; do
            mv "$file" "$file.ours" && cp "$file.before" "$file"
        done
        if recipe "$name" "$place/logs/$name.default"; then
            failed=$((failed + 1))
            echo "FAILED $name: $place/logs/$name"
        else
            echo "fails without Lanecrypt, too: $name"
        fi
        for file in "${files[@]}"; do
            mv "$file.ours" "$file"
        done
    done
    # Else nothing was tested.
    awk '{ contexts += $4; messages += $6; draws += $8 }
        END { printf "%d contexts, %d messages, %d draws went through the module\n", contexts, messages, draws
            exit messages == 0 }' "$suites/count" || failed=$((failed + 1))
}

cpython_suite() {
    local name python=${PYTHON:-/usr/bin/python3} conf=$suites/cpython.cnf
    module
    "$python" -c 'import test.test_ssl' 2>/dev/null || stop "apt install libpython3-testsuite"
    cargo build --release --quiet --locked -p lanecrypt-cli || stop "the program does not build"
    "$target/release/lanecrypt" openssl --module "$suites/lanecrypt.so" >"$conf" || stop "no configuration"
    for name in test_ssl test_hashlib test_hmac test_secrets test_random test_uuid test_ftplib test_imaplib \
        test_poplib test_httplib test_asyncio test_urllib2_localnet; do
        if OPENSSL_CONF=$conf "$python" -m test -q "$name" >"$suites/$name.log" 2>&1; then
            passed=$((passed + 1))
        elif ! "$python" -m test -q "$name" >"$suites/$name.default.log" 2>&1; then
            echo "fails without Lanecrypt, too: $name"
        else
            failed=$((failed + 1))
            echo "FAILED $name: $suites/$name.log"
        fi
    done
}

pyca_suite() {
    local env=$target/python/env place=$suites/pyca version
    [ -x "$env/bin/python" ] || stop "make test-python first: it installs the package"
    version=$("$env/bin/pip" list 2>/dev/null | sed -n 's/^cryptography *//p')
    "$env/bin/pip" install --quiet "cryptography_vectors==$version" pytest certifi || stop "needs pypi.org"
    rm -rf "$place"
    mkdir -p "$place"
    cd "$place" || exit
    # The archive is read, nothing of it is built.
    curl -sSLo source.tar.gz "$(curl -sSL https://pypi.org/simple/cryptography/ |
        grep -o "https://[^\"#]*/cryptography-$version.tar.gz" | head -n 1)" || stop "needs pypi.org"
    tar -xzf source.tar.gz --strip-components=1 --wildcards '*/tests' '*/pyproject.toml' || stop "no tests"
    sed -i 's/^from cryptography.hazmat.primitives.ciphers.aead import (/from lanecrypt import (/' \
        tests/hazmat/primitives/test_aead.py
    # Ciphers that we do not have stay theirs.
    python3 - <<'END' || stop "test_aead.py has another form"
import re
path = "tests/hazmat/primitives/test_aead.py"
text = open(path).read()
names = re.search(r"from lanecrypt import \(([^)]*)\)", text)
ours = ["AESGCM", "AESGCMSIV", "AESSIV", "ChaCha20Poly1305"]
theirs = [name.strip() for name in names[1].split(",") if name.strip() and name.strip() not in ours]
text = text.replace(
    names[0],
    f"from lanecrypt import InvalidTag, {', '.join(ours)}\n"
    f"from cryptography.hazmat.primitives.ciphers.aead import {', '.join(theirs)}",
)
text = text.replace("from cryptography.exceptions import InvalidTag, ", "from cryptography.exceptions import ")
open(path, "w").write(text)
END
    "$env/bin/python" -m pytest -q -p no:cacheprovider tests/hazmat/primitives/test_aead.py \
        -k 'AESGCM or AESSIV or ChaCha20' 2>&1 | tee "$suites/pyca.log" | tail -n 40
    passed=$(grep -o '[0-9]* passed' "$suites/pyca.log" | tail -n 1 | cut -d ' ' -f 1)
    failed=$(grep -o '[0-9]* failed' "$suites/pyca.log" | tail -n 1 | cut -d ' ' -f 1)
}

# A crate of the name that RustCrypto's tests use, whose types are ours. Arguments: its name, types.
rustcrypto_crate() {
    local name=$1 types=$2 place=$suites/rustcrypto/$1 source
    mkdir -p "$place/src"
    cat >"$place/Cargo.toml" <<END
[package]
name = "$name"
version = "0.0.0"
edition = "2024"
[features]
default = ["aes", "alloc"]
aes = []
alloc = []
pmac = []
[dependencies]
lanecrypt-ciphers = { path = "$repository/ciphers", features = ["rustcrypto"] }
aead = { version = "0.6", features = ["alloc", "dev"] }
[dev-dependencies]
hex-literal = "1"
[workspace]
END
    echo "pub use aead::{self, KeyInit}; pub use lanecrypt_ciphers::{$types};" >"$place/src/lib.rs"
    source=$(find "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/ -maxdepth 1 -name "$name-[0-9]*" | sort -V | tail -n 1)
    [ -d "$source/tests" ] || stop "cargo fetch first: $name is a dependency of the tests"
    rm -rf "$place/tests"
    cp -r "$source/tests" "$place"
    # Our own `new` takes arrays of the language, the trait's theirs; and keys are not `Clone`.
    find "$place/tests" -name '*.rs' -exec sed -i \
        's/<\$\(aead\|cipher\)>::new(/<$\1 as ::aead::KeyInit>::new(/; s/(KEY.into()).clone()/(KEY.into())/' {} +
}

rustcrypto_suite() {
    local name
    cargo fetch --quiet --locked
    rustcrypto_crate aes-gcm "Aes128Gcm, Aes256Gcm"
    # Other sizes of vectors, which only their generic type has.
    rm "$suites/rustcrypto/aes-gcm/tests/other_ivlen.rs"
    rustcrypto_crate aes-gcm-siv "Aes128GcmSiv, Aes256GcmSiv"
    # Makes the counter of a chosen tag wrap by means that only their crate has.
    rm "$suites/rustcrypto/aes-gcm-siv/tests/ctr_wrap.rs"
    rustcrypto_crate chacha20poly1305 "ChaCha20Poly1305, XChaCha20Poly1305"
    # Where theirs leave a buffer whose message is not authentic, ours are wiped.
    for name in aes-gcm aes-gcm-siv chacha20poly1305; do
        cargo test --release --manifest-path "$suites/rustcrypto/$name/Cargo.toml" --target-dir "$suites/rustcrypto/target" \
            --no-fail-fast -- --skip decrypt_in_place_detached_modified 2>&1 |
            tee "$suites/$name.log" | grep -E '^(test |error)'
        grep -q '^test result: ok. [1-9]' "$suites/$name.log" || failed=$((failed + 1))
        passed=$((passed + $(grep -c '^test .* ok$' "$suites/$name.log")))
        failed=$((failed + $(grep -c '^test .* FAILED$' "$suites/$name.log")))
    done
}

case ${1-} in
openssl) openssl_suite "${2-}" ;;
cpython | pyca | rustcrypto) "$1_suite" ;;
*) stop "which one? openssl, cpython, pyca or rustcrypto" ;;
esac
echo "${passed:-0} passed, ${failed:-0} failed"
[ "${failed:-0}" -eq 0 ] && [ "${passed:-0}" -gt 0 ]
