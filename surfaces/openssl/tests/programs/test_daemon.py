"""Keys in the daemon `lanecrypt serve`: programs that name one by a file or a URI sign with it, and
never have it. The other end of each connection does not use the module.
"""

import pathlib
import re
import socket
import ssl
import subprocess
import sys
import textwrap
import time

from harness import (
    PATIENCE, PROGRAM, PSS, OpensslTest, counts_of_family, environment, family, free_port, tool, valgrind,
)
import test_haproxy
import test_nginx

PADDINGS = [f"rsa-{padding}-{hash}" for padding in ("pss", "pkcs1v15")
            for hash in ("sha256", "sha384", "sha512")]

# Suites whose server signs, with the hash functions that curl and OpenSSL ask for.
SIGNED = [("TLS_AES_128_GCM_SHA256", "TLSv1.3"), ("ECDHE-RSA-AES128-GCM-SHA256", "TLSv1.2")]


class DaemonTest(OpensslTest):
    """A test with a daemon that has the key of the certificate, of which programs know the name only."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        secret = cls.folder / "secret"
        secret.mkdir(0o700)
        (secret / "key.pem").write_bytes(cls.key.read_bytes())
        (secret / "key.pem").chmod(0o600)
        cls.private = cls.key.read_bytes()
        cls.settings, cls.socket = secret / "daemon.toml", secret / "socket"
        rows = [("web", PADDINGS, ""), ("one", PADDINGS[:1], ""), ("another's", PADDINGS, "12345")]
        cls.settings.write_text("".join(
            f'[[key]]\nname = "{name}"\nfile = "key.pem"\nalgorithm = {paddings}\nallow = [{users}]\n'
            for name, paddings, users in rows
        ))
        cls.settings.chmod(0o600)
        cls.public = cls.folder / "public.pem"
        cls.openssl("theirs", "pkey -in key.pem -pubout -out public.pem")
        # Servers get this file in place of the key.
        command = [PROGRAM, "openssl", "--key", "web", "--socket", cls.socket]
        named = subprocess.run(command, env=environment(), check=True, capture_output=True).stdout
        cls.key.write_bytes(named)

    def setUp(self):
        super().setUp()
        self.daemon = self.serve_keys()

    def serve_keys(self):
        command = [PROGRAM, "serve", "--socket", self.socket, "--config", self.settings]
        daemon = self.start(command)
        deadline = time.monotonic() + PATIENCE
        while True:
            # A daemon that was killed leaves its socket behind.
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
                if probe.connect_ex(str(self.socket)) == 0:
                    return daemon
            self.assertIsNone(daemon.poll(), self.log())
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(0.02)

    def signatures(self):
        """How many the daemon has made."""
        told = subprocess.run([PROGRAM, "info", "--socket", self.socket], env=environment(),
                              check=True, capture_output=True, text=True).stdout
        rows = [line.split() for line in told.splitlines() if line.startswith("Signatures ")]
        return int(rows[0][1]) if rows else 0

    def with_rsa(self, *arguments):
        return self.configuration("--rsa", *arguments, more=f"socket = {self.socket}")

    def assert_without_key(self, server):
        """The key's prime numbers are nowhere in the memory of a program."""
        text = self.openssl("theirs", "rsa -text -noout", input=self.private).decode()
        primes = []
        for name in ("prime1:", "prime2:", "privateExponent:"):
            digits = re.search(rf"{name}\n((?: +[0-9a-f:]+\n)+)", text)[1]
            number = bytes.fromhex(re.sub(r"[\s:]", "", digits)).lstrip(b"\0")
            # A part is enough, in either order of bytes.
            primes += [number[8:40], number[8:40][::-1]]
        self.assertEqual({len(prime) for prime in primes}, {32})
        looked = 0
        for pid in family(server.pid):
            for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
                place, rights = line.split()[:2]
                if not rights.startswith("rw") or "[v" in line:
                    continue
                begin, end = (int(number, 16) for number in place.split("-"))
                with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                    try:
                        memory.seek(begin)
                        content = memory.read(end - begin)
                    except OSError:
                        continue
                looked += len(content)
                for prime in primes:
                    self.assertNotIn(prime, content, f"process {pid}: {line}")
        self.assertGreater(looked, 100_000)


class Program(DaemonTest):
    """The program `openssl`."""

    def setUp(self):
        super().setUp()
        self.ends["ours"] = self.with_rsa()
        self.names = ["key.pem", "lanecrypt:web", f"lanecrypt:web?socket={self.socket}"]

    def assert_fails(self, reason, *words, **options):
        self.assertIn(reason, self.openssl("ours", *words, status=1, **options).decode())

    def test_keys(self):
        for name in self.names:
            self.assertEqual(self.openssl("ours", f"pkey -in {name} -pubout"), self.public.read_bytes())
            self.assertIn(b"Key is valid", self.openssl("ours", f"pkey -in {name} -check -noout"))
            self.assertIn(b"Public-Key: (", self.openssl("ours", f"pkey -in {name} -text_pub -noout"))
            self.assert_fails("stays there", f"pkey -in {name}")
            self.assert_fails("stays there", f"pkey -in {name} -outform DER")
        for name in self.names[1:]:
            self.assertIn(b"0: Pkey", self.openssl("ours", f"storeutl -noout {name}"))
            self.assertIn(b"Total found: 0", self.openssl("ours", f"storeutl -certs -noout {name}"))

    def test_signatures(self):
        for name in self.names:
            for hash in ("sha256", "sha384", "sha512"):
                for options in ("", PSS):
                    before = self.signatures()
                    self.openssl("ours", f"dgst -{hash} {options} -sign {name} -out made 1000.bin")
                    verify = "-verify public.pem -signature made 1000.bin"
                    self.openssl("theirs", f"dgst -{hash} {options} {verify}")
                    self.assertEqual(self.signatures(), before + 1)
            digest = self.openssl("theirs", "dgst -sha256 -binary 1000.bin")
            sign = f"pkeyutl -sign -inkey {name} -pkeyopt digest:sha256 -out made"
            self.openssl("ours", sign, input=digest)
            self.openssl("theirs", "dgst -sha256 -verify public.pem -signature made 1000.bin")

    def test_certificates(self):
        for name in self.names:
            for options in ("-sha256", "-sha512", f"-sha384 {PSS}"):
                command = f"req -new -key {name} -subj /CN=localhost {options}"
                self.openssl("ours", command, "-out request.pem")
                self.openssl("theirs", "req -in request.pem -verify -noout")
                self.openssl("ours", command, "-x509 -out signed.pem")
                self.openssl("theirs", "verify -check_ss_sig -CAfile signed.pem signed.pem")

    def test_what_is_refused(self):
        only = "a key in a daemon only signs"
        for name in self.names:
            sign = f"-sign {name} -out made 1000.bin"
            self.assert_fails(only, f"dgst -sha1 {sign}")
            self.assert_fails(only, f"pkeyutl -sign -inkey {name} -out made", input=b"1" * 32)
            self.assert_fails("not for this hash function and padding", "dgst -sha256 -sigopt",
                              f"rsa_padding_mode:pss -sigopt rsa_pss_saltlen:7 {sign}")
            sealed = self.openssl("theirs", "pkeyutl -encrypt -pubin -inkey public.pem", input=b"1" * 32)
            self.assert_fails("", f"pkeyutl -decrypt -inkey {name}", input=sealed)
        self.assert_fails("key one: the key is not for this hash function",
                          "dgst -sha256 -sign lanecrypt:one -out made 1000.bin")
        for name in ("another's", "nobody's"):
            self.assert_fails("no key of this name for this user", f"pkey -in lanecrypt:{name}")
        self.assert_fails("malformed", "pkey -in lanecrypt:web?path=/x")

    def test_memory(self):
        for status, command in (
            (0, "dgst -sha256 -sign key.pem -out made 1000.bin"),
            (0, "pkey -in lanecrypt:web -pubout"),
            (1, "pkey -in lanecrypt:web"),
            (1, "dgst -sha1 -sign key.pem -out made 1000.bin"),
            (1, "dgst -sha256 -sign lanecrypt:nobody's -out made 1000.bin"),
        ):
            self.openssl("ours", command, status=status, before=valgrind())

    def test_without_a_daemon(self):
        self.end(self.daemon)
        self.assert_fails("no such socket", "storeutl lanecrypt:web")
        self.assert_fails("no such socket", "dgst -sha256 -sign lanecrypt:web 1000.bin")

    def test_only_if_switched_on(self):
        self.ends["ours"] = self.configuration()
        for name in self.names:
            self.openssl("ours", f"pkey -in {name} -pubout", status=1)

    def test_tls(self):
        for more in ("", "-async"):
            for version, algorithms in (
                ("-tls1_3", ["RSA-PSS+SHA256", "RSA-PSS+SHA384", "RSA-PSS+SHA512"]),
                ("-tls1_2", ["RSA+SHA256", "RSA+SHA512", "RSA-PSS+SHA384"]),
            ):
                server, port = self.s_server("ours", "-www", more)
                for algorithm in algorithms:
                    before = self.signatures()
                    got = self.openssl(
                        "theirs", f"s_client -connect 127.0.0.1:{port} {version} -sigalgs {algorithm}",
                        "-CAfile certificate.pem -verify_return_error -ign_eof",
                        input=b"GET / HTTP/1.0\r\n\r\n")
                    self.assertIn(b"200 ok", got)
                    self.assertEqual(self.signatures(), before + 1)
                self.assert_without_key(server)
                self.end(server)


class Nginx(DaemonTest):
    serve = test_nginx.Nginx.serve

    def test_a_server(self):
        server, port = self.serve(self.with_rsa("--for", "nginx"))
        for suite in SIGNED:
            before = self.signatures()
            for _ in range(3):
                self.assertEqual(self.fetch(port, "1000.bin", suite), self.files[1000].read_bytes())
            self.assertEqual(self.signatures(), before + 3)
        self.assert_without_key(server)
        # The daemon starts again: the worker finds the new one.
        self.end(self.daemon)
        broken = subprocess.run(
            [tool("curl", "curl"), "-sS", "--max-time", "20", "--cacert", self.certificate,
             f"https://localhost:{port}/1.bin"], capture_output=True, env=environment())
        self.assertNotEqual(broken.returncode, 0)
        self.assertIn("no such socket", self.log())
        self.daemon = self.serve_keys()
        self.assertEqual(self.fetch(port, "1.bin"), self.files[1].read_bytes())
        self.assert_without_key(server)

    def test_the_key_would_be_found(self):
        """A server that has the key itself: the other tests would see it."""
        named = self.key.read_bytes()
        self.addCleanup(self.key.write_bytes, named)
        self.key.write_bytes(self.private)
        server, port = self.serve(self.with_rsa("--for", "nginx"))
        self.assertEqual(self.fetch(port, "1.bin"), self.files[1].read_bytes())
        self.assertEqual(self.signatures(), 0)
        with self.assertRaises(AssertionError):
            self.assert_without_key(server)

    def test_without_a_daemon(self):
        self.end(self.daemon)
        configuration = self.with_rsa("--for", "nginx")
        settings = self.folder / "broken.conf"
        settings.write_text(
            f"pid {self.folder}/broken.pid; error_log stderr; events {{}} http {{ server {{\n"
            f"listen 127.0.0.1:{free_port()} ssl; ssl_certificate {self.certificate};\n"
            f"ssl_certificate_key {self.key}; }} }}\n")
        tested = subprocess.run([tool("nginx", "nginx"), "-t", "-c", settings], capture_output=True,
                                env=environment(configuration), timeout=PATIENCE)
        self.assertNotEqual(tested.returncode, 0)
        self.assertIn("no such socket", tested.stderr.decode())


class Haproxy(DaemonTest):
    serve = test_haproxy.Haproxy.serve
    ask_together = test_haproxy.Haproxy.ask_together

    def test_a_server(self):
        server, port = self.serve(self.with_rsa("--for", "haproxy"))
        for suite in SIGNED:
            before = self.signatures()
            self.assertEqual(self.fetch(port, "1000.bin", suite), self.files[1000].read_bytes())
            self.assertEqual(self.signatures(), before + 1)
        self.assert_without_key(server)

    def test_in_jobs(self):
        server, port = self.serve(
            self.with_rsa("--for", "haproxy"), "    ssl-mode-async\n    nbthread 1\n")
        context = ssl.create_default_context(cafile=self.certificate)
        self.ask_together(context, port, 40)
        counts = counts_of_family(server.pid)
        self.assertGreaterEqual(counts["signatures"], 40, self.log())
        self.assertGreaterEqual(counts["together"], 2, self.log())
        self.assertGreaterEqual(self.signatures(), 40)
        self.assert_without_key(server)


class Forks(DaemonTest):
    """A process that has signed, and its children."""

    SCRIPT = textwrap.dedent("""
        import os, ssl, sys
        certificate, key = sys.argv[1:]
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(certificate, key)
        client = ssl.create_default_context(cafile=certificate)

        def handshake():
            a, b, c, d = (ssl.MemoryBIO() for _ in range(4))
            one = client.wrap_bio(a, b, server_hostname="localhost")
            other = server.wrap_bio(c, d, server_side=True)
            done = set()
            while len(done) < 2:
                for end in (one, other):
                    try:
                        end.do_handshake()
                        done.add(end)
                    except ssl.SSLWantReadError:
                        pass
                    c.write(b.read())
                    a.write(d.read())

        handshake()
        for _ in range(3):
            child = os.fork()
            if child == 0:
                handshake()
                # What it had of its parent is gone, and what it has made is kept.
                files = len(os.listdir("/proc/self/fd"))
                for _ in range(5):
                    handshake()
                assert len(os.listdir("/proc/self/fd")) == files
                grandchild = os.fork()
                handshake()
                if grandchild:
                    _, status = os.waitpid(grandchild, 0)
                    os._exit(os.waitstatus_to_exitcode(status))
                os._exit(0)
            handshake()
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
            handshake()
    """)

    def test_python(self):
        configuration = self.with_rsa()
        before = self.signatures()
        done = subprocess.run(
            [sys.executable, "-c", self.SCRIPT, self.certificate, self.key],
            env=environment(configuration), capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, f"{done.stderr.decode()}\n{self.log()}")
        self.assertEqual(self.signatures(), before + 1 + 3 * (6 + 2 + 2))
