"""What whole programs gain: `scripts/openssl.sh measure`.

Rounds with and without the module take turns; a figure is the median of its rounds, and a ratio says
how many times more a program takes without.
"""

import contextlib
import os
import pathlib
import resource
import ssl
import statistics
import subprocess
import time

import test_haproxy
import test_nginx
import test_openssh
import test_postgres
from harness import ask, begin, counts_of_family, environment

ROUNDS = 7

# Clients that begin together, and how often they do in a round.
AT_ONCE = 64
TIMES = 20


def processor_seconds(pid):
    """Seconds of processor time that a process has used."""
    with contextlib.suppress(OSError):
        tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def compare(name, unit, without, ours):
    """Takes turns and prints both medians."""
    figures = [], []
    for _ in range(ROUNDS):
        for place, measure in zip(figures, (without, ours)):
            place.append(measure())
    plain, fast = map(statistics.median, figures)
    print(f"\n{name}: {plain:.3f} {unit} without, {fast:.3f} with: {plain / fast:.2f} x", flush=True)


def worker(server):
    """The process of a server's only worker."""
    return int(pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()[0])


def handshakes(pid, port, path):
    """Measures microseconds of processor time for a handshake of TLS 1.3 and a short response."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    numbers = range(AT_ONCE)

    def measure():
        before = processor_seconds(pid)
        for _ in range(TIMES):
            clients = [begin(context, port) for _ in numbers]
            for connection, _, outgoing, _ in clients:
                connection.sendall(outgoing.read())
            for client in clients:
                answer = ask(client, path)
                if b" 200 OK" not in answer:
                    raise AssertionError(answer)
        return (processor_seconds(pid) - before) * 1e6 / AT_ONCE / TIMES

    return measure


class Haproxy(test_haproxy.Haproxy):
    test_every_suite = test_rsa_in_jobs = test_curves_in_jobs = None

    def test_handshakes(self):
        """Handshakes of 64 clients at once, X25519 and ECDSA P-256, in asynchronous jobs with the module."""
        self.use_p256()
        plain, port = self.serve(None, "    nbthread 1\n")
        without = handshakes(plain.pid, port, "/alive")
        jobs = "    ssl-mode-async\n    nbthread 1\n"
        ours, port = self.serve(self.configuration("--for", "haproxy", "--curves"), jobs)
        compare(f"HAProxy, handshake, {AT_ONCE} at once", "µs", without, handshakes(ours.pid, port, "/alive"))
        self.assertGreater(counts_of_family(ours.pid)["together"], AT_ONCE * TIMES, self.log())


class Nginx(test_nginx.Nginx):
    test_every_suite = test_random_numbers = test_rsa = test_without_the_module = None

    def test_handshakes(self):
        """The same by nginx, which has no asynchronous jobs."""
        self.use_p256()
        configurations = (None, self.configuration("--for", "nginx", "--curves"))
        servers = [self.serve(configuration) for configuration in configurations]
        measures = (handshakes(worker(server), port, "/1.bin") for server, port in servers)
        compare(f"nginx, worker, handshake, {AT_ONCE} at once", "µs", *measures)

    def test_worker(self):
        """Processor time of the worker for 20 responses of 10 MiB."""

        def served(server, port, suite):
            pid = worker(server)
            command = ["curl", "-sS", "-o", "/dev/null", "--cacert", self.certificate, "--tlsv1.3"]
            command += ["--tls13-ciphers", suite, f"https://localhost:{port}/{10 << 20}.bin?[1-20]"]

            def measure():
                before = processor_seconds(pid)
                subprocess.run(command, check=True, capture_output=True, env=environment())
                return processor_seconds(pid) - before

            return measure

        servers = [self.serve(None), self.serve(self.configuration("--for", "nginx"))]
        for suite in ("TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"):
            compare(f"nginx, worker, {suite}", "s", *(served(*server, suite) for server in servers))


class OpenSsh(test_openssh.OpenSsh):
    test_server = test_client = test_random_numbers_without_the_module = None

    def test_copy(self):
        """Processor time of `scp` for 200 MiB, aes128-gcm."""
        _, port = self.serve(None)
        long = self.folder / "long"
        long.write_bytes(self.big.read_bytes() * 5)
        command = ["scp", "-q", "-P", str(port), "-i", self.user, "-c", "aes128-gcm@openssh.com"]
        command += ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
        command += [long, f"root@127.0.0.1:{self.folder}/copied"]

        def copying(configuration):
            def measure():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(command, check=True, capture_output=True, env=environment(configuration))
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

            return measure

        compare("scp, client", "s", copying(None), copying(self.configuration("--for", "sshd")))


class Postgres(test_postgres.Postgres):
    test_identifiers = test_connections = None

    def test_queries(self):
        """Wall time of queries that draw an identifier for each row."""
        ports = [
            self.serve(None)[1],
            self.serve(self.configuration("--for", "postgres", "--random"))[1],
        ]
        queries = {
            "count of 500,000": "select count(gen_random_uuid()) from generate_series(1, 500000)",
            "insert of 200,000 rows": "create temp table t (id uuid primary key, n int); "
            "insert into t select gen_random_uuid(), i from generate_series(1, 200000) i; "
            "drop table t",
        }

        def asking(port, sql):
            def measure():
                begin = time.monotonic()
                self.query(port, sql)
                return time.monotonic() - begin

            return measure

        for name, sql in queries.items():
            compare(f"PostgreSQL, {name}", "s", *(asking(port, sql) for port in ports))
