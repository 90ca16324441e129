"""nginx serves with the module; curl reads without it."""

from harness import SUITES, ProgramTest, counts_of, counts_of_family, free_port, tool, wait_for


class Nginx(ProgramTest):
    def serve(self, configuration):
        port = free_port()
        settings = self.folder / f"nginx-{port}.conf"
        settings.write_text(f"""
            daemon off; master_process on; worker_processes 1; user root;
            pid {self.folder}/nginx-{port}.pid; error_log stderr;
            events {{}}
            http {{
                access_log off;
                server {{
                    listen 127.0.0.1:{port} ssl;
                    root {self.folder};
                    ssl_certificate {self.certificate}; ssl_certificate_key {self.key};
                    ssl_protocols TLSv1.2 TLSv1.3; ssl_ciphers ALL:@SECLEVEL=1;
                }}
            }}
        """)
        server = self.start([tool("nginx", "nginx"), "-c", settings], configuration)
        wait_for(port)
        return server, port

    def test_every_suite(self):
        server, port = self.serve(self.configuration("--for", "nginx"))
        before = 0
        for suite in SUITES:
            for size, file in self.files.items():
                got = self.fetch(port, file.name, suite)
                self.assertEqual(got, file.read_bytes(), f"{suite}, {size} bytes")
            # 10 MiB are 640 records.
            least = 640 if "GCM" in suite[0] or "CHACHA20" in suite[0] else 0
            before = self.assert_used(server.pid, least=before + least)

    def test_random_numbers(self):
        server, port = self.serve(self.configuration("--for", "nginx", "--random"))
        # Draws are added up now and then. A handshake takes some.
        for _ in range(200):
            self.assertEqual(self.fetch(port, "1.bin"), self.files[1].read_bytes())
            if counts_of_family(server.pid)["draws"]:
                break
        self.assert_used(server.pid, "draws")

    def test_rsa(self):
        server, port = self.serve(self.configuration("--for", "nginx", "--rsa"))
        for suite in SUITES:
            before = counts_of_family(server.pid)["signatures"]
            self.assertEqual(self.fetch(port, "1.bin", suite), self.files[1].read_bytes())
            made = counts_of_family(server.pid)["signatures"] - before
            # A suite without a key exchange has nothing to sign.
            self.assertEqual(made, 0 if suite[0] == "AES256-SHA" else 1, f"{suite}\n{self.log()}")

    def test_without_the_module(self):
        """A configuration whose module has gone leaves the server with OpenSSL's own code."""
        configuration = self.configuration("--for", "nginx")
        text = configuration.read_text().replace("module = ", "module = /nonexistent")
        configuration.write_text(text)
        server, port = self.serve(configuration)
        self.assertEqual(self.fetch(port, "16385.bin"), self.files[16_385].read_bytes())
        self.assertIsNone(counts_of(server.pid))
