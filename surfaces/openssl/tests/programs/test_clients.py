"""Programs that read with the module, from servers without it: curl, Python, Node. And Node's server."""

import subprocess
import textwrap

from harness import SUITES, OpensslTest, ProgramTest, environment, free_port, tool, wait_for


class Clients(OpensslTest):
    def serve(self):
        """OpenSSL's own server, which sends the files of its folder."""
        return self.s_server("theirs", "-WWW -cipher ALL:@SECLEVEL=1")[1]

    def test_curl(self):
        port = self.serve()
        configuration = self.configuration("--for", "curl")
        for suite in SUITES:
            got = self.fetch(port, "16385.bin", suite, configuration)
            self.assertEqual(got, self.files[16_385].read_bytes(), suite)

    def test_curl_uses_the_module(self):
        port = self.serve()
        command = [tool("curl", "curl"), "-sS", "--cacert", self.certificate]
        client = subprocess.Popen(
            [*command, f"https://localhost:{port}/{10 << 20}.bin"], stdout=subprocess.PIPE,
            env=environment(self.configuration("--for", "curl")),
        )
        # It waits for who reads the rest. Counts are added up every 256 records, which are 4 MiB.
        begun = client.stdout.read(6 << 20)
        self.assert_used(client.pid, least=256)
        self.assertEqual(begun + client.communicate()[0], self.files[10 << 20].read_bytes())

    def test_python(self):
        port = self.serve()
        script = textwrap.dedent(f"""
            import os, socket, ssl, sys
            context = ssl.create_default_context(cafile={str(self.certificate)!r})
            with socket.create_connection(("127.0.0.1", {port})) as plain:
                with context.wrap_socket(plain, server_hostname="localhost") as secure:
                    secure.sendall(b"GET /{10 << 20}.bin HTTP/1.0\\r\\n\\r\\n")
                    answer = b"".join(iter(lambda: secure.recv(65536), b""))
            os.write(1, answer.split(b"\\r\\n\\r\\n", 1)[1])
            os.close(1)
            sys.stdin.read()
        """)
        client = subprocess.Popen(
            [tool("python3", "python3"), "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment(self.configuration()),
        )
        self.addCleanup(client.stdout.close)
        self.assertEqual(client.stdout.read(), self.files[10 << 20].read_bytes())
        self.assert_used(client.pid, least=640)
        client.communicate()
        self.assertEqual(client.returncode, 0)


class Node(ProgramTest):
    def test_server(self):
        """Node has an OpenSSL of its own, which loads the same file."""
        port = free_port()
        script = textwrap.dedent(f"""
            const https = require("https"), fs = require("fs"), path = require("path");
            const options = {{ key: fs.readFileSync({str(self.key)!r}),
                cert: fs.readFileSync({str(self.certificate)!r}), ciphers: "ALL:@SECLEVEL=1" }};
            https.createServer(options, (request, response) =>
                fs.createReadStream(path.join({str(self.folder)!r}, path.basename(request.url)))
                    .pipe(response)).listen({port}, "127.0.0.1");
        """)
        configuration = self.configuration("--for", "node")
        command = [tool("node", "nodejs"), f"--openssl-config={configuration}", "-e", script]
        server = self.start(command)
        wait_for(port)
        for suite in SUITES:
            got = self.fetch(port, f"{10 << 20}.bin", suite)
            self.assertEqual(got, self.files[10 << 20].read_bytes(), suite)
        self.assert_used(server.pid, least=640)
