"""PostgreSQL: random identifiers of the server, and connections that are encrypted by the module."""

import hashlib
import os
import pwd
import shutil
import subprocess
import time

from harness import PATIENCE, ProgramTest, environment, free_port, tool


class Postgres(ProgramTest):
    def user(self):
        """How to become a user that may run the server."""
        if os.geteuid() != 0:
            return {}
        try:
            entry = pwd.getpwnam("postgres")
        except KeyError:
            self.skipTest("openssl-postgres: apt install postgresql, which makes its user")
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}

    def serve(self, configuration):
        user = self.user()
        port = free_port()
        data = self.folder / f"data-{port}"
        data.mkdir(mode=0o700)
        if user:
            os.chown(data, user["user"], user["group"])
        subprocess.run(
            [tool("initdb", "postgresql"), "-D", data, "-A", "trust", "-U", "postgres", "-N"],
            check=True, capture_output=True, env=environment(), cwd="/", **user,
        )
        for name, file in (("server.key", self.key), ("server.crt", self.certificate)):
            shutil.copy(file, data / name)
            (data / name).chmod(0o600)
            if user:
                os.chown(data / name, user["user"], user["group"])
        command = [tool("postgres", "postgresql"), "-D", data, "-p", str(port), "-h", "127.0.0.1"]
        command += ["-k", "", "-c", "ssl=on", "-c", "fsync=off"]
        server = self.start(command, configuration, cwd="/", **user)
        # It listens before it is ready.
        ready = [tool("pg_isready", "postgresql-client"), "-q", "-h", "127.0.0.1", "-p", str(port)]
        deadline = time.monotonic() + PATIENCE
        while subprocess.run(ready, env=environment(), cwd="/").returncode != 0:
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(0.05)
        return server, port

    def query(self, port, sql, ending=b"done\n", mode="disable"):
        """What a session prints for `sql`; the session stays until the caller has looked at it."""
        url = f"host=127.0.0.1 port={port} user=postgres dbname=postgres sslmode={mode}"
        client = subprocess.Popen(
            [tool("psql", "postgresql-client"), "-X", "-A", "-t", url], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), cwd="/",
        )
        self.addCleanup(client.communicate)
        client.stdin.write(f"{sql};\n\\echo done\n".encode())
        client.stdin.flush()
        lines = []
        for line in client.stdout:
            if line == ending:
                return lines
            lines.append(line.decode().strip())
        self.fail(f"{lines}\n{self.log()}")

    def test_identifiers(self):
        server, port = self.serve(self.configuration("--for", "postgres", "--random"))
        lines = self.query(port, "select gen_random_uuid() from generate_series(1, 20000)")
        self.assertEqual(len(set(lines)), 20_000)
        self.assertTrue(all(len(line) == 36 and line[14] == "4" for line in lines))
        self.assert_used(server.pid, "draws", 19_000)
        # Each session is a process of its own that was forked.
        again = self.query(port, "select gen_random_uuid() from generate_series(1, 20000)")
        self.assertFalse(set(lines) & set(again))

    def test_connections(self):
        server, port = self.serve(self.configuration("--for", "postgres"))
        sql = "select md5(i::text) || ssl from generate_series(1, 200000) i, pg_stat_ssl " \
              "where pid = pg_backend_pid()"
        lines = self.query(port, sql, mode="require")
        for number in (1, 77_777, 200_000):
            expected = hashlib.md5(str(number).encode()).hexdigest() + "true"
            self.assertEqual(lines[number - 1], expected)
        self.assert_used(server.pid, least=500)
