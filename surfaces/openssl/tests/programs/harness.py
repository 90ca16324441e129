"""What the tests of programs share: configurations, certificates, servers, and the module's counts.

The environment names the module (LANECRYPT_MODULE), the program `lanecrypt` (LANECRYPT_PROGRAM), and a
folder with a key and its certificate (LANECRYPT_CERTIFICATE), which take a second to make. Nothing but a
configuration makes a program use the module, and the other end of a connection never uses it.
"""

import collections
import contextlib
import itertools
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

MODULE = pathlib.Path(os.environ["LANECRYPT_MODULE"]).resolve()
PROGRAM = pathlib.Path(os.environ["LANECRYPT_PROGRAM"]).resolve()
CERTIFICATE = pathlib.Path(os.environ["LANECRYPT_CERTIFICATE"]).resolve()

# The ends of what two programs exchange: with the module, and without.
ENDS = ["ours", "theirs"]

# Options for signatures by PSS.
PSS = "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest"

# Of configurations.
NUMBERS = itertools.count()

# Seconds until something that hangs fails the test.
PATIENCE = 60

# Suites of TLS, with the version: those whose records the module protects, and two of CBC.
SUITES = [
    ("TLS_AES_128_GCM_SHA256", "TLSv1.3"),
    ("TLS_AES_256_GCM_SHA384", "TLSv1.3"),
    ("TLS_CHACHA20_POLY1305_SHA256", "TLSv1.3"),
    ("ECDHE-RSA-AES128-GCM-SHA256", "TLSv1.2"),
    ("ECDHE-RSA-AES256-GCM-SHA384", "TLSv1.2"),
    ("ECDHE-RSA-CHACHA20-POLY1305", "TLSv1.2"),
    ("ECDHE-RSA-AES128-SHA256", "TLSv1.2"),
    ("AES256-SHA", "TLSv1.2"),
]


def tool(name, package):
    """The path of a program, or a skip by the name of its package."""
    # Debian's PostgreSQL comes first: what is before it on the path may be something else.
    folders = [str(path) for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin")]
    folders += [os.environ["PATH"], "/usr/sbin", "/sbin"]
    path = shutil.which(name, path=":".join(folders))
    if path is None:
        raise unittest.SkipTest(f"openssl-{name}: apt install {package}")
    return path


def valgrind():
    """What comes before a command: reads before writes, uses after the end and losses end it with 9."""
    return [tool("valgrind", "valgrind"), "-q", "--error-exitcode=9", "--leak-check=full",
            "--errors-for-leak-kinds=definite"]


def each(*lists):
    """Makes a method one test for each combination of arguments. A tuple is several arguments."""

    def mark(method):
        parts = ([part if isinstance(part, tuple) else (part,) for part in parts] for parts in lists)
        method.rows = [sum(row, ()) for row in itertools.product(*parts)]
        return method

    return mark


def other(end):
    return ENDS[1 - ENDS.index(end)]


def environment(configuration=None):
    """The environment of a program: with a configuration, or without any setting of OpenSSL."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OPENSSL", "LANECRYPT"))}
    if configuration is not None:
        clean["OPENSSL_CONF"] = str(configuration)
    return clean


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port):
    """Waits until something listens."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def family(pid):
    """A process and all that descend from it."""
    pids = [pid]
    for member in pids:
        for task in pathlib.Path(f"/proc/{member}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                pids += [int(child) for child in task.read_text().split()]
    return pids


def counts_of(pid):
    """What the module has counted in a process; None if that has ended or has not loaded the module."""
    said = subprocess.run([PROGRAM, "openssl", "--count", str(pid)], capture_output=True, text=True)
    if said.returncode == 0:
        _, _, *words = said.stdout.split()
        return collections.Counter(dict(zip(words[::2], map(int, words[1::2]))))
    # Anything else is a failure of the command.
    if not re.search("there is none|has not loaded|No such process", said.stderr):
        raise AssertionError(said.stderr)
    return None


def counts_of_family(pid):
    """The sums over a process and all that descend from it."""
    return sum((counts_of(member) or collections.Counter() for member in family(pid)), collections.Counter())


def begin(context, port):
    """A client whose first flight is made and not sent: its socket, both buffers, and its TLS."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return connection, incoming, outgoing, tls
    raise AssertionError("a handshake without a server")


def converse(client, step):
    """A step of a client's TLS, with all that it sends and awaits."""
    connection, incoming, outgoing, _ = client
    while True:
        try:
            done = step()
            connection.sendall(outgoing.read())
            return done
        except ssl.SSLWantReadError:
            connection.sendall(outgoing.read())
            received = connection.recv(65536)
            if received:
                incoming.write(received)
            else:
                incoming.write_eof()


def ask(client, path):
    """The whole answer to a request, after the rest of the handshake. It ends the connection."""
    connection, _, _, tls = client
    converse(client, tls.do_handshake)
    converse(client, lambda: tls.write(f"GET {path} HTTP/1.0\r\n\r\n".encode()))
    answer, piece = b"", None
    while piece != b"":
        try:
            piece = converse(client, lambda: tls.read(65536))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            piece = b""
        answer += piece
    connection.close()
    return answer


class ProgramTest(unittest.TestCase):
    """A test with a folder, a certificate and programs of its own, which end with it."""

    def __init_subclass__(cls):
        for name, method in list(vars(cls).items()):
            if not hasattr(method, "rows"):
                continue
            delattr(cls, name)
            for row in method.rows:
                def test(self, method=method, row=row):
                    method(self, *row)
                setattr(cls, " ".join([name, *map(str, row)]), test)

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="lanecrypt-programs-"))
        # Servers that drop their privileges read here.
        cls.folder.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.key, cls.certificate = cls.folder / "key.pem", cls.folder / "certificate.pem"
        for path in (cls.key, cls.certificate):
            path.write_bytes((CERTIFICATE / path.name).read_bytes())
        # Sizes around those of records, and one of many records.
        cls.files = {}
        for size in (0, 1, 1000, 16_384, 16_385, 10 << 20):
            path = cls.folder / f"{size}.bin"
            path.write_bytes(os.urandom(size))
            cls.files[size] = path

    def use_p256(self):
        """Another certificate, whose key is of P-256."""
        self.certificate, self.key = self.folder / "p256.pem", self.folder / "p256.key"
        subprocess.run(
            [tool("openssl", "openssl"), "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost", "-newkey", "ec",
             "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", self.key, "-out", self.certificate],
            check=True, capture_output=True,
        )

    @classmethod
    def configuration(cls, *arguments, more=""):
        """What `lanecrypt openssl` prints, in a file, with more lines for the module."""
        text = subprocess.run(
            [PROGRAM, "openssl", "--module", MODULE, *arguments],
            check=True, capture_output=True, text=True, env=environment(),
        ).stdout
        path = cls.folder / f"{next(NUMBERS)}.cnf"
        path.write_text(text.replace("[lanecrypt_module]\n", f"[lanecrypt_module]\n{more}\n"))
        return path

    def start(self, command, configuration=None, **options):
        """A program that is ended with the test."""
        log = open(self.folder / "log", "ab")
        self.addCleanup(log.close)
        options.setdefault("env", environment(configuration))
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, **options,
        )
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def log(self):
        log = self.folder / "log"
        return log.read_text(errors="replace")[-4000:] if log.exists() else ""

    def assert_used(self, pid, name="messages", least=1):
        """Something of a program has used the module so often."""
        # Contexts are counted when they are freed, which may be after the client has gone.
        deadline = time.monotonic() + 5
        while (count := counts_of_family(pid)[name]) < least and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertGreaterEqual(count, least, f"{name} of process {pid}\n{self.log()}")
        return count

    def fetch(self, port, path, suite=None, configuration=None):
        """The bytes that curl gets, and fails if it gets none."""
        command = [tool("curl", "curl"), "-sS", "--max-time", str(PATIENCE)]
        command += ["--cacert", self.certificate, f"https://localhost:{port}/{path}"]
        if suite is not None:
            name, version = suite
            if version == "TLSv1.3":
                command += ["--tlsv1.3", "--tls13-ciphers", name]
            else:
                command += ["--tls-max", "1.2", "--ciphers", name]
        done = subprocess.run(command, capture_output=True, env=environment(configuration))
        self.assertEqual(done.returncode, 0, f"{suite}: {done.stderr}\n{self.log()}")
        return done.stdout


class OpensslTest(ProgramTest):
    """A test with the program `openssl`, in the test's folder."""

    # What the configuration takes over besides ciphers.
    ARGUMENTS = []

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plain, cls.short = os.urandom(1_000_003), os.urandom(100)
        (cls.folder / "plain").write_bytes(cls.plain)
        (cls.folder / "short").write_bytes(cls.short)
        # Where programs leave their counts when they end.
        cls.count = cls.folder / "count"
        cls.ends = {"theirs": None, "ours": cls.configuration(*cls.ARGUMENTS, more=f"count = {cls.count}")}

    def setUp(self):
        self.count.write_bytes(b"")

    def counted(self, names):
        """The sum of counts of programs that have ended. Names have `|` in between."""
        return sum(map(int, re.findall(rf"\b(?:{names}) (\d+)", self.count.read_text())))

    def assert_counted(self, names):
        self.assertGreater(self.counted(names), 0, f"{names}\n{self.log()}")

    @classmethod
    def openssl(cls, end, *words, status=0, before=(), input=b""):
        """What the program prints, or says of its failure. It must end with this status."""
        command = [*before, tool("openssl", "openssl"), *" ".join(map(str, words)).split()]
        done = subprocess.run(command, capture_output=True, input=input, timeout=4 * PATIENCE,
                              env=environment(cls.ends[end]), cwd=cls.folder)
        if done.returncode != status:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stderr.decode()}")
        return done.stderr if status else done.stdout

    def s_server(self, end, *words):
        """OpenSSL's own server, and its port."""
        port = free_port()
        command = f"s_server -quiet -accept 127.0.0.1:{port} -cert certificate.pem -key key.pem"
        command = [tool("openssl", "openssl"), *command.split(), *" ".join(words).split()]
        server = self.start(command, self.ends[end], cwd=self.folder)
        wait_for(port)
        return server, port
