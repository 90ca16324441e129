#!/usr/bin/env python3
"""Runs test suites of other projects with our ciphers in place of theirs.

On request only: they need the network and many minutes. What is built stays in target/suites.

  suites.py openssl [SUITE[=VERSION] [RECIPE...]]
                        recipes of OpenSSL that use ciphers, evp_test with all its data among them, of the
                        source package in Debian's SUITE (bookworm: OpenSSL 3.0; experimental: 4.0)
  suites.py cpython     tests of CPython that use OpenSSL (Debian: libpython3.11-testsuite)
  suites.py pyca        tests of AEADs of the package cryptography (after `make test-python`)
  suites.py rustcrypto  tests of RustCrypto's AEADs, with our types

What also fails without Lanecrypt, or differs by intent, is named and not counted. Ends with the counts.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
SUITES = TARGET / "suites"
MODULE, COUNT = SUITES / "lanecrypt.so", SUITES / "count"

# Functions and checks of OpenSSL's recipes: without its tag, a message of ChaCha20-Poly1305 is not
# opened; opaque keys are not taken; and there is a cipher where a test expects none but the default
# provider's.
DIFFERENCES = {
    "test_decrypt_null_chunks",
    "test_bio_enc_chacha20_poly1305",
    "test_explicit_EVP_CIPHER_fetch_by_name",
    "test_explicit_EVP_CIPHER_fetch_by_X509_ALGOR",
    "Check that key from URI gives an equal result comparing to the explicit one",
}

# Those that reach a cipher, a MAC over one, random numbers or RSA.
RECIPES = """
    evp evp_extra evp_fetch_prov evp_libctx evp_pkey_provided enc enc_more aesgcm bio_enc cipherbytename cipherlist
    ciphername clienthello cms cmsapi dane dtls dtls_mtu dtlsv1listen external_tls_provider fatalerr gendsa genec
    genrsa key_share namemap ossl_store pem_reading pkcs12 pkcs12_api provider provider_fallback provider_pkey
    quic_record quicapi rand rand_status recordlen renegotiation rsa rsaoaep rsapss servername serverinfo smime
    ssl_ctx ssl_new ssl_old ssl_test_ctx sslapi sslbuffers sslcorrupt sslrecords sslsessiontick sslsigalgs
    sslversions threads tls13ccs tls13encryption tls13hrr tls13kexmodes tls13messages tls13psk tls13secrets
    tlsextms x509
""".split()

# These expect no providers but in a library context of their own.
ISOLATED = {"test_evp_extra", "test_pkcs12", "test_quicapi", "test_sslapi"}

passed = failed = 0


def run(*command, log=None, **options):
    """Whether a command succeeds; its output goes to a file if one is named."""
    with open(log or os.devnull, "wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **options)
    return done.returncode == 0


def need(condition, reason):
    if not condition:
        sys.exit(f"suites: {reason}")


def judge(name, ours, without, differs=lambda: False, log=""):
    """Counts a test. `without` runs it without Lanecrypt, if it has failed with it."""
    global passed, failed
    if ours():
        passed += 1
    elif differs():
        print(f"differs by intent: {name}", flush=True)
    elif not without():
        print(f"fails without Lanecrypt, too: {name}", flush=True)
    else:
        failed += 1
        print(f"FAILED {name}: {log}", flush=True)


def build_module():
    need(run("cargo", "build", "--release", "--locked", "-p", "lanecrypt-openssl", "-p", "lanecrypt-cli", cwd=ROOT,
             log=SUITES / "build.log"), f"the provider does not build: {SUITES / 'build.log'}")
    shutil.copy(TARGET / "release/liblanecrypt_openssl.so", MODULE)
    COUNT.write_bytes(b"")


def need_messages():
    """Without messages in our module, nothing was tested."""
    counts = re.findall(r"contexts (\d+) messages (\d+) draws (\d+)", COUNT.read_text())
    sums = [sum(map(int, column)) for column in zip(*counts)] or [0, 0, 0]
    print("{:,} contexts, {:,} messages, {:,} draws went through the module".format(*sums))
    need(sums[1] > 0, "no message went through the module")


def source_of_openssl(suite):
    """The source package of Debian, which apt verifies; built once."""
    place = SUITES / f"openssl-{suite}"
    if not (place / "built").exists():
        shutil.rmtree(place, ignore_errors=True)
        (place / "lists/partial").mkdir(parents=True)
        suite, _, version = suite.partition("=")
        package = f"openssl={version}" if version else "openssl"
        key = "/usr/share/keyrings/debian-archive-keyring.gpg"
        (place / "list").write_text(f"deb-src [signed-by={key}] http://deb.debian.org/debian {suite} main\n")
        apt = ["apt-get", "-o", f"Dir::Etc::SourceList={place}/list", "-o", "Dir::Etc::SourceParts=/dev/null",
               "-o", f"Dir::State::Lists={place}/lists", "-o", f"Dir::Cache={place}", "-o", "APT::Sandbox::User=root"]
        log = place / "log"
        need(run(*apt, "update", log=log), f"no packages of {suite}: {log}")
        need(run(*apt, "--download-only", "source", package, log=log, cwd=place), f"no source package: {log}")
        control, = place.glob("*.dsc")
        need(run("dpkg-source", "--no-check", "-x", control.name, "source", log=log, cwd=place), f"not unpacked: {log}")
        print(f"building {control.stem} (some minutes)", flush=True)
        need(run("sh", "-c", "./config enable-legacy && make -s -j2", log=log, cwd=place / "source"),
             f"OpenSSL does not build: {log}")
        (place / "built").touch()
    return place / "source"


def configured(text, lanecrypt):
    """A configuration that activates providers; its list of them may be a comment."""
    for line in (r"providers = provider_sect", r"\[provider_sect\]", r"default = default_sect", r"\[default_sect\]",
                 r"activate = 1"):
        text = re.sub(rf"^# *({line})$", r"\1", text, flags=re.M)
    if not lanecrypt:
        return text
    for section, line in ("provider_sect", "lanecrypt = lanecrypt_module"), ("openssl_init", "alg_section = lanecrypt"):
        text, found = re.subn(rf"^\[ *{section} *\]$", rf"\g<0>\n{line}", text, flags=re.M)
        need(found == 1, f"a configuration without a section {section}")
    return (f"{text}\n[lanecrypt_module]\nmodule = {MODULE}\nactivate = 1\ncount = {COUNT}\n"
            "[lanecrypt]\ndefault_properties = ?provider=lanecrypt\n")


def openssl(suite="bookworm", *recipes):
    build_module()
    source = source_of_openssl(suite)
    logs = source.parent / "logs"
    logs.mkdir(exist_ok=True)
    subprocess.run(["apps/openssl", "version"], cwd=source, env={**os.environ, "LD_LIBRARY_PATH": "."}, check=True)
    theirs = {}
    for name in "test/default.cnf", "test/default-and-legacy.cnf", "apps/openssl.cnf":
        kept = source / f"{name}.theirs"
        if not kept.exists():
            shutil.copy(source / name, kept)
        theirs[source / name] = kept.read_text()

    def recipe(name, configurations, log):
        for path, text in configurations.items():
            path.write_text(text)
        return run("make", "-s", "test", f"TESTS={name}", "V=1", cwd=source, log=log)

    usual = source / "apps/openssl.cnf"
    known = subprocess.run(["make", "-s", "list-tests"], cwd=source, capture_output=True, text=True).stdout.split()
    for name in (f"test_{recipe}" for recipe in recipes or RECIPES):
        log = logs / name
        if name not in known:
            continue

        def differs():
            # Lines of whole programs say again what their functions say.
            names = r"^[# ]*not ok \d+ - (?!running |iteration )(test_\w+|.*)"
            names = set(re.findall(names, log.read_text(errors="replace"), re.M))
            return names and names <= DIFFERENCES

        ours, others = (
            {path: text if name in ISOLATED and path == usual else configured(text, lanecrypt)
             for path, text in theirs.items()}
            for lanecrypt in (True, False)
        )
        judge(name, lambda: recipe(name, ours, log), lambda: recipe(name, others, logs / f"{name}.theirs"), differs, log)
    need_messages()


def cpython():
    build_module()
    python = os.environ.get("PYTHON", "/usr/bin/python3")
    need(run(python, "-c", "import test.test_ssl"), "apt install libpython3.11-testsuite")
    text = subprocess.run([TARGET / "release/lanecrypt", "openssl", "--module", MODULE], capture_output=True, text=True)
    configuration = SUITES / "cpython.cnf"
    configuration.write_text(text.stdout.replace(f"module = {MODULE}\n", f"module = {MODULE}\ncount = {COUNT}\n"))
    ours = {**os.environ, "OPENSSL_CONF": str(configuration)}
    for name in ("ssl hashlib hmac secrets random uuid ftplib imaplib poplib smtplib httplib asyncio "
                 "urllib2_localnet httpservers").split():
        test, log = [python, "-m", "test", "-q", f"test_{name}"], SUITES / f"cpython-{name}.log"
        judge(name, lambda: run(*test, env=ours, log=log, cwd=SUITES), lambda: run(*test, cwd=SUITES), log=log)
    need_messages()


def pyca():
    global passed, failed
    python, place = TARGET / "python/env/bin/python", SUITES / "pyca"
    need(python.exists(), "make test-python first: it installs the package")
    version = subprocess.run([python, "-c", "import cryptography as it; print(it.__version__)"], capture_output=True,
                             text=True, check=True).stdout.strip()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    index = subprocess.run(["curl", "-sSfL", "https://pypi.org/simple/cryptography/"], capture_output=True, text=True)
    address = re.search(rf'https://[^"#]*/cryptography-{re.escape(version)}\.tar\.gz', index.stdout)
    need(address and run("curl", "-sSfLo", "source.tar.gz", address[0], cwd=place), "needs pypi.org")
    need(run(python, "-m", "pip", "install", "-q", f"cryptography_vectors=={version}", "certifi"), "needs pypi.org")
    need(run("tar", "-xzf", "source.tar.gz", "--strip-components=1", cwd=place), "an archive of another form")
    # What is installed is imported, with their vectors.
    shutil.rmtree(place / "src")
    test = place / "tests/hazmat/primitives/test_aead.py"
    ours = "AESGCM, AESGCMSIV, AESSIV, ChaCha20Poly1305, InvalidTag".split(", ")
    text = test.read_text() + "\n"
    head, rest = text.split("\n\n\n", 1)
    test.write_text(f"{head}\n\nfrom lanecrypt import {', '.join(ours)}\n\n\n{rest}")
    log = SUITES / "pyca.log"
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--override-ini", "addopts=", str(test),
        "-k", "AESGCM or AESSIV or ChaCha20", cwd=place, log=log)
    print("\n".join(re.findall(r"^(?:FAILED|ERROR).*", log.read_text(), re.M)))
    passed, failed = (sum(map(int, re.findall(rf"(\d+) {word}", log.read_text()))) for word in ("passed", "failed|error"))
    need(passed or failed, f"nothing ran: {log}")


def rustcrypto():
    global passed, failed
    need(run("cargo", "fetch", "--locked", cwd=ROOT), "needs crates.io")
    registry = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")) / "registry/src"
    for crate, types, without in (
        # Vectors of other lengths, which only their generic type has.
        ("aes-gcm", "Aes128Gcm, Aes256Gcm", "other_ivlen.rs"),
        # Needs the parts of their crate.
        ("aes-gcm-siv", "Aes128GcmSiv, Aes256GcmSiv", "ctr_wrap.rs"),
        ("chacha20poly1305", "ChaCha20Poly1305, XChaCha20Poly1305", None),
    ):
        place, log = SUITES / "rustcrypto" / crate, SUITES / f"{crate}.log"
        shutil.rmtree(place, ignore_errors=True)
        (place / "src").mkdir(parents=True)
        # Their name, our types.
        (place / "src/lib.rs").write_text(f"pub use aead::{{self, KeyInit}};\npub use lanecrypt_ciphers::{{{types}}};\n")
        (place / "Cargo.toml").write_text(f"""
            package = {{ name = "{crate}", version = "0.0.0", edition = "2024" }}
            features = {{ default = ["aes", "alloc"], aes = [], alloc = [] }}
            dev-dependencies = {{ hex-literal = "1" }}
            workspace = {{}}
            [dependencies]
            lanecrypt-ciphers = {{ path = "{ROOT}/ciphers", features = ["rustcrypto"] }}
            aead = {{ version = "0.6", features = ["alloc", "dev"] }}
        """)
        shutil.copytree(max(registry.glob(f"*/{crate}-[0-9]*")) / "tests", place / "tests")
        if without:
            (place / "tests" / without).unlink()
        for test in place.glob("tests/**/*.rs"):
            # Our own `new` takes arrays of the language, the trait's theirs; and keys are not `Clone`.
            text = re.sub(r"<\$(aead|cipher)>::new\(", r"<$\1 as ::aead::KeyInit>::new(", test.read_text())
            test.write_text(text.replace("(KEY.into()).clone()", "(KEY.into())"))
        # Where theirs leave a buffer whose message is not authentic, ours are wiped.
        ends = run("cargo", "test", "--release", "--target-dir", SUITES / "rustcrypto/target", "--no-fail-fast", "--",
                   "--skip", "decrypt_in_place_detached_modified", cwd=place, log=log)
        lines = log.read_text()
        passed += len(re.findall(r"^test .* ok$", lines, re.M))
        failed += len(re.findall(r"^test .* FAILED$", lines, re.M)) + (not ends and "FAILED" not in lines)
        print(f"{crate}: {log}", flush=True)


def main():
    names = {"openssl": openssl, "cpython": cpython, "pyca": pyca, "rustcrypto": rustcrypto}
    need(len(sys.argv) > 1 and sys.argv[1] in names, __doc__)
    SUITES.mkdir(parents=True, exist_ok=True)
    names[sys.argv[1]](*sys.argv[2:])
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
