"""Connections of `openssl s_server` and `openssl s_client`: the module is at one end of each, and what
the server sends back must be what was sent.
"""

import contextlib
import os
import re
import subprocess

from harness import ENDS, PATIENCE, OpensslTest, each, environment, tool

ANY = "ALL:@SECLEVEL=0"
AEAD = re.compile("GCM|CHACHA")


def suites():
    """Rows of options and a suite: all of TLS 1.2 that the module may serve, and three of TLS 1.3."""
    command = ["openssl", "ciphers", "-s", "-tls1_2", ANY]
    found = subprocess.run(command, capture_output=True, check=True, text=True, env=environment())
    for name in found.stdout.strip().split(":"):
        if re.match("ECDHE-(RSA|ECDSA)-(AES|CHACHA)|AES(128|256)-", name) and "CCM" not in name:
            yield "-tls1_2 -cipher", name
            # Without encrypt-then-MAC, CBC has the code inside.
            if not AEAD.search(name):
                yield "-tls1_2 -no_etm -cipher", name
    for name in ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"):
        yield "-tls1_3 -ciphersuites", name


class TlsTest(OpensslTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        key, certificate = cls.folder / "ec.key", cls.folder / "ec.pem"
        cls.openssl("theirs", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost")
        cls.server = ["-cipher", ANY, "-dcert", certificate, "-dkey", key]

    def echo(self, server, arguments):
        """A server turns each line round, and a client at the other end gets it."""
        port = self.serve(server, "-rev", *self.server)
        # Small letters, because the client takes others for commands.
        lines = [os.urandom(35).hex() for _ in range(600)]
        turned = "".join(line[::-1] + "\n" for line in lines).encode()
        # The end of its input ends the client in order, so that it leaves its counts.
        client = subprocess.Popen(
            ["timeout", str(PATIENCE), tool("openssl", "openssl"), "s_client", "-quiet", "-no_ign_eof",
             "-connect", f"127.0.0.1:{port}", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(self.ends[self.other(server)]))
        with contextlib.suppress(BrokenPipeError):
            client.stdin.write("".join(line + "\n" for line in lines).encode())
            client.stdin.flush()
        got = client.stdout.read(len(turned))
        errors = client.communicate()[1]
        self.assertTrue(got == turned and client.returncode == 0, f"{errors.decode()}\n{self.log()}")
        self.await_server()

    def fetch_file(self, server, option, arguments):
        """A server with one more option sends a file."""
        port = self.serve(server, "-WWW", option, *self.server)
        got = self.openssl(self.other(server), "s_client", "-quiet", "-connect", f"127.0.0.1:{port}",
                           *arguments, input=f"GET /{self.short.name} HTTP/1.0\r\n\r\n".encode())
        self.assertTrue(got.endswith(b"\r\n\r\n" + self.short.read_bytes()), got)
        self.await_server()

    def await_server(self):
        """The server, which ends after one connection, has left its counts."""
        self.assertEqual(self.process.wait(PATIENCE), 0, self.log())
        self.assertGreater(self.counted("process"), 0)


class Suites(TlsTest):
    @each(ENDS, list(suites()))
    def test_suite(self, server, options, suite):
        name = suite if "tls1_3" in options else f"{suite}:@SECLEVEL=0"
        self.echo(server, [*options.split(), name])
        # OpenSSL prefers ciphers of its own for CBC with a code inside.
        if AEAD.search(suite):
            self.assertGreater(self.counted("messages"), 0)


class Handshakes(TlsTest):
    """RSA of ours at one end, with the paddings of both versions, and with jobs of the server."""

    ARGUMENTS = ["--rsa"]

    # By SHA-1 the module does not sign, and where the client encrypts to the key, nobody does.
    OTHERS = [f"-tls1_2 -sigalgs RSA+SHA1 -cipher {ANY}", "-tls1_2 -cipher AES256-SHA:@SECLEVEL=0"]

    @each(ENDS, ["echo", "-async"], [
        "-tls1_3 -sigalgs RSA-PSS+SHA256", "-tls1_3 -sigalgs RSA-PSS+SHA512",
        "-tls1_2 -sigalgs RSA+SHA256", "-tls1_2 -sigalgs RSA-PSS+SHA384", *OTHERS,
    ])
    def test_handshake(self, server, how, arguments):
        # What turns lines round does not know jobs.
        if how == "-async":
            self.fetch_file(server, how, arguments.split())
        else:
            self.echo(server, arguments.split())
        self.assertEqual(self.counted("signatures", "checks") > 0, arguments not in self.OTHERS)
