"""HAProxy ends TLS with the module; curl reads without it."""

import functools
import http.server
import ssl
import threading

from harness import SUITES, ProgramTest, ask, begin, counts_of_family, free_port, tool, wait_for


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Haproxy(ProgramTest):
    def serve(self, configuration, more=""):
        """HAProxy before a server of files; more lines for its global section."""
        handler = functools.partial(Quiet, directory=str(self.folder))
        behind = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=behind.serve_forever, daemon=True).start()
        self.addCleanup(behind.server_close)
        self.addCleanup(behind.shutdown)

        both = self.folder / "both.pem"
        both.write_text(self.certificate.read_text() + self.key.read_text())
        port = free_port()
        settings = self.folder / "haproxy.cfg"
        settings.write_text(
            f"global\n    ssl-default-bind-ciphers ALL:@SECLEVEL=1\n{more}"
            "defaults\n    mode http\n    timeout connect 30s\n    timeout client 30s\n"
            "    timeout server 30s\n"
            f"frontend f\n    bind 127.0.0.1:{port} ssl crt {both} ssl-min-ver TLSv1.2\n"
            "    monitor-uri /alive\n    default_backend b\n"
            f"backend b\n    server s 127.0.0.1:{behind.server_address[1]}\n"
        )
        server = self.start([tool("haproxy", "haproxy"), "-db", "-f", settings], configuration)
        wait_for(port)
        return server, port

    def test_every_suite(self):
        server, port = self.serve(self.configuration("--for", "haproxy"))
        for suite in SUITES:
            for size in (1000, 10 << 20):
                got = self.fetch(port, self.files[size].name, suite)
                self.assertEqual(got, self.files[size].read_bytes(), f"{suite}, {size} bytes")
        self.assert_used(server.pid, least=6 * 640)

    def test_rsa_in_jobs(self):
        """Clients that come together get signatures that are made together. Some leave early."""
        configuration = self.configuration("--for", "haproxy", "--rsa")
        server, port = self.serve(configuration, "    ssl-mode-async\n    nbthread 1\n")
        context = ssl.create_default_context(cafile=self.certificate)
        clients = 40
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context.minimum_version = context.maximum_version = version
            self.ask_together(context, port, clients)
        counts = counts_of_family(server.pid)
        # Those that left may have been signed for.
        self.assertGreaterEqual(counts["signatures"], 2 * clients, self.log())
        self.assertGreaterEqual(counts["together"], 2, self.log())

    def test_curves_in_jobs(self):
        """The same with a certificate of P-256: shared secrets and signatures are made together."""
        self.use_p256()
        configuration = self.configuration("--for", "haproxy", "--curves")
        server, port = self.serve(configuration, "    ssl-mode-async\n    nbthread 1\n")
        context = ssl.create_default_context(cafile=self.certificate)
        clients = 40
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context.minimum_version = context.maximum_version = version
            self.ask_together(context, port, clients)
        counts = counts_of_family(server.pid)
        self.assertGreaterEqual(counts["keys"], clients, self.log())
        # What was alone is left to OpenSSL.
        for count in ("together", "agreements", "signatures"):
            self.assertGreaterEqual(counts[count], 2, self.log())

    def ask_together(self, context, port, clients):
        """All clients begin, then all go on. Every fourth has a twin that leaves in between."""
        waiting, early = [], []
        for number in range(clients):
            ends = [waiting, early] if number % 4 == 0 else [waiting]
            for end in ends:
                end.append(begin(context, port))
        for connection, _, outgoing, _ in waiting + early:
            connection.sendall(outgoing.read())
        for connection, *_ in early:
            connection.close()
        for client in waiting:
            answer = ask(client, "/1000.bin")
            self.assertTrue(answer.endswith(self.files[1000].read_bytes()), self.log())
