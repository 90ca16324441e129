"""Connections of `openssl s_server` and `openssl s_client`: the module is at one end of each, and what
the server sends back must be what was sent.
"""

import contextlib
import os
import re
import subprocess

from harness import ENDS, PATIENCE, OpensslTest, each, environment, other, tool

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
        cls.openssl("theirs", "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes",
                    "-keyout ec.key -out ec.pem -subj /CN=localhost")

    def serve(self, end, options):
        """A server for one connection, after the one that asks whether it is there."""
        return self.s_server(end, options, f"-naccept 2 -cipher {ANY} -dcert ec.pem -dkey ec.key")

    def await_server(self, process):
        self.assertEqual(process.wait(PATIENCE), 0, self.log())
        self.assert_counted("process")

    def echo(self, server, options):
        """A server turns each line round, and a client at the other end gets it."""
        process, port = self.serve(server, "-rev")
        # Small letters, because the client takes others for commands.
        lines = [os.urandom(35).hex() for _ in range(600)]
        turned = "".join(line[::-1] + "\n" for line in lines).encode()
        # The end of its input ends the client in order, so that it leaves its counts.
        command = f"s_client -quiet -no_ign_eof -connect 127.0.0.1:{port} {options}"
        client = subprocess.Popen(
            ["timeout", str(PATIENCE), tool("openssl", "openssl"), *command.split()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(self.ends[other(server)]))
        with contextlib.suppress(BrokenPipeError):
            client.stdin.write("".join(line + "\n" for line in lines).encode())
            client.stdin.flush()
        got = client.stdout.read(len(turned))
        errors = client.communicate()[1]
        self.assertTrue(got == turned and client.returncode == 0, f"{errors.decode()}\n{self.log()}")
        self.await_server(process)

    def fetch_file(self, server, options):
        """A server with jobs sends a file. What turns lines round does not know jobs."""
        process, port = self.serve(server, "-WWW -async")
        got = self.openssl(other(server), f"s_client -quiet -connect 127.0.0.1:{port} {options}",
                           input=b"GET /short HTTP/1.0\r\n\r\n")
        self.assertTrue(got.endswith(b"\r\n\r\n" + self.short), got)
        self.await_server(process)


class Suites(TlsTest):
    @each(ENDS, list(suites()))
    def test_suite(self, server, options, suite):
        self.echo(server, f"{options} {suite}" + ("" if "tls1_3" in options else ":@SECLEVEL=0"))
        # OpenSSL prefers ciphers of its own for CBC with a code inside.
        if AEAD.search(suite):
            self.assert_counted("messages")


class Handshakes(TlsTest):
    """RSA of ours at one end, with the paddings of both versions, and with jobs of the server."""

    ARGUMENTS = ["--rsa"]

    # By SHA-1 the module does not sign, and where the client encrypts to the key, nobody does.
    OTHERS = [f"-tls1_2 -sigalgs RSA+SHA1 -cipher {ANY}", "-tls1_2 -cipher AES256-SHA:@SECLEVEL=0"]

    @each(ENDS, ["echo", "fetch_file"], [
        "-tls1_3 -sigalgs RSA-PSS+SHA256", "-tls1_3 -sigalgs RSA-PSS+SHA512",
        "-tls1_2 -sigalgs RSA+SHA256", "-tls1_2 -sigalgs RSA-PSS+SHA384", *OTHERS,
    ])
    def test_handshake(self, server, how, options):
        getattr(self, how)(server, options)
        self.assertEqual(self.counted("signatures|checks") > 0, options not in self.OTHERS)
