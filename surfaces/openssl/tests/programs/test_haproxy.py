"""HAProxy ends TLS with the module; curl reads without it."""

import functools
import http.server
import threading

from harness import SUITES, ProgramTest, free_port, tool, wait_for


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Haproxy(ProgramTest):
    def test_every_suite(self):
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
            "global\n    ssl-default-bind-ciphers ALL:@SECLEVEL=1\n"
            "defaults\n    mode http\n    timeout connect 30s\n    timeout client 30s\n"
            "    timeout server 30s\n"
            f"frontend f\n    bind 127.0.0.1:{port} ssl crt {both} ssl-min-ver TLSv1.2\n"
            "    default_backend b\n"
            f"backend b\n    server s 127.0.0.1:{behind.server_address[1]}\n"
        )
        configuration = self.configuration("--for", "haproxy")
        server = self.start([tool("haproxy", "haproxy"), "-db", "-f", settings], configuration)
        wait_for(port)
        for suite in SUITES:
            for size in (1000, 10 << 20):
                got = self.fetch(port, self.files[size].name, suite)
                self.assertEqual(got, self.files[size].read_bytes(), f"{suite}, {size} bytes")
        self.assert_used(server.pid, least=6 * 640)
