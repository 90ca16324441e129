"""`lanecrypt.file`: what is written is read, here, by the program and by another implementation; what is
refused, and what then stands at the target."""

import array
import hashlib
import io
import itertools
import os
import pathlib
import pickle
import re
import subprocess
import tarfile
import traceback

import numpy
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

import lanecrypt
from lanecrypt import InvalidTag, file

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("LANECRYPT_PROGRAM", "")
KEY = bytes.fromhex("c0ffee") + bytes(range(100, 129))
WORDS = "correct horse battery stäple"
CHEAP = (32, 1, 2)
CHUNK = 1 << 16
LENGTHS = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 9 * CHUNK + 5]
ALGORITHMS = ["aes-256-gcm", "chacha20-poly1305", "xchacha20-poly1305"]
SECRETS = [{"key": KEY}, {"passphrase": WORDS}]


def data(length):
    return hashlib.shake_128(b"%d" % length).digest(length)


def options(secret, algorithm="aes-256-gcm"):
    return {**secret, "algorithm": algorithm, "cost": CHEAP}


def sealed(content, secret=SECRETS[0], algorithm="aes-256-gcm"):
    target = io.BytesIO()
    assert file.encrypt(io.BytesIO(content), target, **options(secret, algorithm)) == len(content)
    return target.getvalue()


def opened(content, secret=SECRETS[0]):
    target = io.BytesIO()
    assert file.decrypt(io.BytesIO(content), target, **secret) == len(target.getvalue())
    return target.getvalue()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: [*secret][0])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_around_chunks(algorithm, secret, tmp_path):
    path, back = tmp_path / "file", tmp_path / "back"
    for length in LENGTHS:
        content = data(length)
        assert opened(sealed(content, secret, algorithm), secret) == content
        back.write_bytes(content)
        assert file.encrypt(back, path, **options(secret, algorithm)) == length
        assert file.decrypt(str(path), os.fspath(back), **secret) == length
        assert back.read_bytes() == content
        with file.open(path, "wb", **options(secret, algorithm)) as writer:
            for start in range(0, length, 50_001):
                piece = content[start : start + 50_001]
                assert writer.write(memoryview(bytearray(piece))) == len(piece)
                writer.flush()
        with file.open(path, **secret) as reader:
            assert reader.read() == content and reader.read() == b""
        with file.open(path, "r", **secret) as reader:
            pieces = iter(lambda: reader.read(10_007), b"")
            assert b"".join(pieces) == content
            assert not reader.seekable() and not reader.writable()
    assert names(tmp_path) == ["back", "file"]
    first, second = sealed(b"", secret), sealed(b"", secret)
    assert first != second, "each file has a salt of its own"


def test_lines_and_objects():
    target = io.BytesIO()
    with io.TextIOWrapper(file.open(target, "wb", key=KEY), "utf-8") as text:
        text.writelines(f"line {n} ä\n" for n in range(10_000))
    assert not target.closed
    with file.open(io.BytesIO(target.getvalue()), key=bytearray(KEY)) as lines:
        for n, line in enumerate(lines):
            assert line == f"line {n} ä\n".encode()
        assert n == 9_999


def test_buffers_of_every_kind():
    target = io.BytesIO()
    pieces = [
        pa.py_buffer(b"ab"), numpy.array([[1, 2]], "<u2"), array.array("b", [5]), numpy.empty((0, 3)),
        memoryview(b"xyz")[1:], bytearray(b"c"), b"",
    ]
    with file.open(target, "wb", key=numpy.frombuffer(KEY, "u1")) as writer:
        assert [writer.write(piece) for piece in pieces] == [2, 4, 1, 0, 2, 1, 0]
        for wrong, error in (("text", TypeError), (5, TypeError), (memoryview(b"abc")[::2], TypeError)):
            with pytest.raises(error):
                writer.write(wrong)
    assert opened(target.getvalue()) == b"ab\1\0\2\0\5yzc"


def test_tables_and_archives(tmp_path):
    """Libraries that take file objects."""
    table = pa.table({"a": range(100_000)})
    with file.open(tmp_path / "table", "wb", key=KEY) as writer:
        with pa.ipc.new_stream(writer, table.schema) as stream:
            stream.write_table(table)
    with file.open(tmp_path / "table", key=KEY) as reader:
        assert pa.ipc.open_stream(reader).read_all() == table
    with file.open(tmp_path / "tar", "wb", key=KEY) as writer:
        with tarfile.open(fileobj=writer, mode="w|") as archive:
            archive.add(tmp_path / "table", "name")
    with file.open(tmp_path / "tar", key=KEY) as reader:
        with tarfile.open(fileobj=reader, mode="r|") as archive:
            assert archive.extractfile(archive.next()).read() == (tmp_path / "table").read_bytes()


def independent(content, secret):
    """What `docs/file-format.md` says, by the package `cryptography`."""
    assert content[:10] == b"\x8clanecrypt"
    fixed = {1: 16, 2: 40}[content[10]]
    header, salt, check = content[:fixed], content[fixed : fixed + 32], content[fixed + 32 : fixed + 64]
    key = secret.get("key")
    if content[10] == 2:
        assert content[16] == 1
        key = Argon2id(
            salt=content[24:40], length=32, lanes=content[17], iterations=int.from_bytes(content[18:20], "big"),
            memory_cost=int.from_bytes(content[20:24], "big"),
        ).derive(secret["passphrase"].encode())
    made = HKDF(SHA256(), 32 + 7 + 32, salt, header).derive(key)
    assert made[39:] == check
    cipher = {1: AESGCM, 2: ChaCha20Poly1305}[content[11]](made[:32])
    size = int.from_bytes(content[12:16], "big") + 16
    stream = content[fixed + 64 :]
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    return b"".join(
        cipher.decrypt(made[32:39] + n.to_bytes(4, "big") + bytes([n + 1 == len(chunks)]), chunk, b"")
        for n, chunk in enumerate(chunks)
    )


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: [*secret][0])
def test_another_implementation_reads_the_files(secret):
    for algorithm, length in itertools.product(ALGORITHMS[:2], LENGTHS):
        assert independent(sealed(data(length), secret, algorithm), secret) == data(length)


def test_files_of_rust_are_read():
    text = b"This file was written by lanecrypt encrypt, when its format had one version.\n"
    for algorithm in ALGORITHMS:
        path = ROOT / f"stream/tests/files/{algorithm}.lanecrypt"
        with file.open(path, key=bytes(range(32))) as reader:
            assert reader.read() == text
    second = (ROOT / "stream/tests/files/passphrase.lanecrypt").read_bytes()
    assert opened(second, {"passphrase": b"correct horse battery staple"}) == b"A file of lanecrypt, format 2."


def test_the_program_reads_and_writes_the_files(tmp_path):
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip("LANECRYPT_PROGRAM is not the program: cargo build --release")
    plain, key = tmp_path / "plain", tmp_path / "key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    for algorithm, length in itertools.product(ALGORITHMS, LENGTHS):
        plain.write_bytes(data(length))
        path = tmp_path / "of-python"
        file.encrypt(plain, path, key=KEY, algorithm=algorithm)
        command = [PROGRAM, "decrypt", "--key-file", key, "-o", tmp_path / "back", "--force", path]
        subprocess.run(command, check=True, capture_output=True)
        assert (tmp_path / "back").read_bytes() == data(length)
        command = [PROGRAM, "encrypt", "--key-file", key, "--algorithm", algorithm, "--force"]
        subprocess.run([*command, "-o", path, plain], check=True, capture_output=True)
        assert opened(path.read_bytes()) == data(length)


def refusals():
    """Changed files, with the error of each and what it says."""
    for secret in SECRETS:
        good = sealed(data(3 * CHUNK), secret)
        head = len(good) - 3 * (CHUNK + 16)
        other = {"key": bytes(32)} if "key" in secret else {"passphrase": "another"}
        kind = "key" if "key" in secret else "passphrase"
        chunk = good[head : head + CHUNK + 16]
        yield good, other, InvalidTag, f"another {kind}, or its header was changed"
        for at, error, message in (
            (0, file.NotEncrypted, "not a file that 'lanecrypt encrypt' has made"),
            (10, file.UnsupportedFile, "has format"), (11, file.UnsupportedFile, "names no algorithm"),
            (12, file.UnsupportedFile, "a size that is not allowed"),
            (head - 1, InvalidTag, "header was changed"),
            (head - 40, InvalidTag, "header was changed"), (head, InvalidTag, "in chunk 0 at byte"),
            (head + CHUNK + 16, InvalidTag, "in chunk 1"), (len(good) - 1, InvalidTag, "in chunk 2"),
        ):
            changed = bytearray(good)
            changed[at] ^= 0x80
            yield bytes(changed), secret, error, message
        for end, error, message in (
            (0, file.NotEncrypted, "not a file"), (10, file.NotEncrypted, "not a file"),
            (11, file.TruncatedFile, "within its header"), (head - 1, file.TruncatedFile, "within its header"),
            (head, file.TruncatedFile, "before the end of chunk 0"), (head + 5, file.TruncatedFile, "chunk 0"),
            (head + CHUNK + 16, file.TruncatedFile, "before the end of chunk 1"),
            (head + CHUNK + 99, InvalidTag, "or cut off, in chunk 1"),
            (len(good) - 1, InvalidTag, "or cut off, in chunk 2"),
        ):
            yield good[:end], secret, error, message
        for more in (b"x", chunk):
            yield good + more, secret, InvalidTag, "more data behind the last chunk, 2"
        second, rest = good[head + len(chunk) :][: len(chunk)], good[head + 2 * len(chunk) :]
        yield good[:head] + second + chunk + rest, secret, InvalidTag, "chunk 0"
    yield sealed(b""), SECRETS[1], file.FileError, "is encrypted with a key, not with a passphrase"
    words = sealed(b"", SECRETS[1])
    yield words, SECRETS[0], file.FileError, "is encrypted with a passphrase, not with a key"
    for at, value in ((17, 5), (17, 0), (18, 1), (20, 1), (21, 0x80)):
        costly = bytearray(words)
        costly[at] = value
        yield bytes(costly), SECRETS[1], file.CostRefused, "is not allowed; at most 1048576, 16 and 4"
    yield words[:16] + b"\2" + words[17:], SECRETS[1], file.UnsupportedFile, "a secret of kind 2"


def test_what_is_refused(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    for content, secret, error, message in refusals():
        assert issubclass(error, InvalidTag) or issubclass(error, ValueError)
        source.write_bytes(content)
        whole = data(3 * CHUNK)
        for before in (False, True):
            if before:
                target.write_bytes(b"before")
            with pytest.raises(error, match=f"^{re.escape(str(source))}: .*{message}") as raised:
                file.decrypt(source, target, **secret)
            assert type(raised.value) is error
            said = "".join(traceback.format_exception(raised.value))
            assert KEY.hex() not in said and repr(KEY)[2:-1] not in said and "horse" not in said
            assert names(tmp_path) == (["source", "target"] if before else ["source"])
        assert target.read_bytes() == b"before"
        target.unlink()
        # What an object gets is the beginning, in whole chunks.
        out = io.BytesIO()
        with pytest.raises(error, match=f"^the file: .*{message}"):
            file.decrypt(io.BytesIO(content), out, **secret)
        assert whole.startswith(out.getvalue()) and len(out.getvalue()) % CHUNK == 0
        with pytest.raises(error, match=message):
            with file.open(source, **secret) as reader:
                while reader.read(1000):
                    pass


def test_every_bit_of_a_small_file():
    good = sealed(b"some text")
    for at in range(len(good)):
        changed = bytearray(good)
        changed[at] ^= 1 << at % 8
        with pytest.raises((InvalidTag, file.FileError)):
            opened(bytes(changed))
        with pytest.raises((InvalidTag, file.FileError)):
            opened(good[:at])


def test_an_error_stays():
    changed = bytearray(sealed(data(2 * CHUNK)))
    changed[-1] ^= 1
    reader = file.open(io.BytesIO(changed), key=KEY)
    assert reader.read(CHUNK) == data(2 * CHUNK)[:CHUNK]
    for _ in range(3):
        with pytest.raises(InvalidTag, match="in chunk 1"):
            reader.read(1)


def test_wrong_arguments(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(b"x")
    for given, error, message in (
        ({}, TypeError, "give key= or passphrase="),
        ({"key": KEY, "passphrase": "x"}, TypeError, "one of them"),
        ({"key": KEY[:31]}, ValueError, "^a key of 31 bytes where 32 are needed$"),
        ({"key": KEY.hex()}, TypeError, "buffer"), ({"passphrase": 5}, TypeError, "buffer"),
    ):
        for act in (
            lambda: file.encrypt(source, tmp_path / "target", **given),
            lambda: file.decrypt(source, tmp_path / "target", **given),
            lambda: file.open(source, "rb", **given), lambda: file.open(tmp_path / "target", "wb", **given),
        ):
            with pytest.raises(error, match=message):
                act()
    for algorithm in ("aes-128-gcm", "rot13", ""):
        with pytest.raises(ValueError, match="files have aes-256-gcm, chacha20-poly1305, xchacha20-poly1305"):
            file.encrypt(source, tmp_path / "target", key=KEY, algorithm=algorithm)
        with pytest.raises(ValueError, match="files have aes-256-gcm"):
            file.open(tmp_path / "target", "wb", key=KEY, algorithm=algorithm)
    with pytest.raises(file.CostRefused, match="2097152 KiB"):
        file.encrypt(source, tmp_path / "target", passphrase="x", cost=(1 << 21, 1, 1))
    for mode in ("rt", "a", "r+b", "", "rw"):
        with pytest.raises(ValueError, match="the mode is"):
            file.open(source, mode, key=KEY)
    with pytest.raises(FileNotFoundError):
        file.decrypt(tmp_path / "none", tmp_path / "target", key=KEY)
    with pytest.raises(IsADirectoryError):
        file.encrypt(source, tmp_path, key=KEY)
    # In a folder of its own: a device would be lost if this were not refused.
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="pipe is not a regular file: open it, and pass the file"):
        file.encrypt(source, tmp_path / "pipe", key=KEY)
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "pipe").unlink()
    with pytest.raises(FileExistsError):
        file.open(source, "xb", key=KEY)
    assert names(tmp_path) == ["source"] and source.read_bytes() == b"x"


class Failing(io.RawIOBase):
    """Reads or writes so many bytes, and fails then."""

    def __init__(self, content=b"", most=0, error=None):
        self.inner, self.left, self.error = io.BytesIO(content), most, error

    def readable(self):
        return True

    def writable(self):
        return True

    def _count(self, length):
        if self.left <= 0 and self.error:
            raise self.error
        length = min(length, self.left or length)
        self.left -= length
        return length

    def read(self, length):
        return self.inner.read(self._count(length))

    def write(self, content):
        return self.inner.write(content[: self._count(len(content))])


def test_errors_of_file_objects_stay_as_they_are(tmp_path):
    content = data(9 * CHUNK)
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt(), ZeroDivisionError("own")):
        for most in (1, 70_000, 5 * CHUNK):
            with pytest.raises(type(error)) as raised:
                file.encrypt(Failing(content, most, error), tmp_path / "target", key=KEY)
            assert raised.value is error
            with pytest.raises(type(error)):
                file.decrypt(Failing(sealed(content), most, error), tmp_path / "target", key=KEY)
            with pytest.raises(type(error)):
                file.encrypt(io.BytesIO(content), Failing(b"", most, error), key=KEY)
            assert names(tmp_path) == []
            writer = file.open(Failing(b"", 99 + most, error), "wb", key=KEY)
            with pytest.raises(type(error)):
                for _ in range(2):
                    writer.write(content)
            with pytest.raises(ValueError, match="not complete after an error"):
                writer.close()
    with pytest.raises(TypeError, match="text mode"):
        file.encrypt(io.StringIO("text"), io.BytesIO(), key=KEY)

    class Odd:
        def __init__(self, answer):
            self.answer = answer

        def read(self, length):
            return self.answer(length)

        def write(self, content):
            return self.answer(len(content))

    for answer, error in (
        (lambda n: bytes(n + 1), ValueError), (lambda n: None, BlockingIOError), (lambda n: 5, TypeError),
    ):
        with pytest.raises(error):
            file.encrypt(Odd(answer), io.BytesIO(), key=KEY)
    for answer, error in (
        (lambda n: n + 1, ValueError), (lambda n: None, BlockingIOError), (lambda n: -1, OverflowError),
        (lambda n: 0, OSError), (lambda n: "5", TypeError),
    ):
        with pytest.raises(error):
            file.encrypt(io.BytesIO(content), Odd(answer), key=KEY)


def test_short_reads_and_writes():
    content = data(2 * CHUNK + 7)

    class Slow(io.BytesIO):
        def read(self, length=-1):
            return super().read(min(length, 4093))

        def write(self, content):
            return super().write(content[:4099])

    target = Slow()
    file.encrypt(Slow(content), target, key=KEY)
    assert independent(target.getvalue(), SECRETS[0]) == content
    back = Slow()
    file.decrypt(Slow(target.getvalue()), back, key=KEY)
    assert back.getvalue() == content


def test_blocks_that_fail_leave_nothing(tmp_path):
    path = tmp_path / "file"
    for before in (False, True):
        with pytest.raises(ZeroDivisionError):
            with file.open(path, "wb", key=KEY) as writer:
                writer.write(data(3 * CHUNK))
                assert len(names(tmp_path)) == 1 + before
                1 / 0
        assert names(tmp_path) == ["file"] * before
        # Neither does one that nobody closes.
        writer = file.open(path, "wb", key=KEY)
        writer.write(b"text")
        del writer
        assert names(tmp_path) == ["file"] * before
        path.write_bytes(b"before")
    assert path.read_bytes() == b"before"
    target = io.BytesIO()
    with pytest.raises(ZeroDivisionError):
        with file.open(target, "wb", key=KEY) as writer:
            writer.write(data(3 * CHUNK))
            1 / 0
    with pytest.raises((InvalidTag, file.TruncatedFile)):
        opened(target.getvalue())
    for act in (lambda: writer.write(b"x"), writer.flush):
        with pytest.raises(ValueError, match="closed"):
            act()
    writer.close()
    # One that another has made meanwhile.
    path.unlink()
    writer = file.open(path, "xb", key=KEY)
    path.write_bytes(b"of another")
    with pytest.raises(FileExistsError):
        writer.close()
    assert names(tmp_path) == ["file"] and path.read_bytes() == b"of another"
    with file.open(tmp_path / "new", "xb", key=KEY) as writer:
        writer.write(b"text")
    assert opened((tmp_path / "new").read_bytes()) == b"text" and names(tmp_path) == ["file", "new"]


def test_permissions_links_and_places(tmp_path):
    source, target, link = tmp_path / "source", tmp_path / "target", tmp_path / "link"
    source.write_bytes(b"text")
    source.chmod(0o640)
    file.encrypt(source, target, key=KEY)
    assert target.stat().st_mode & 0o777 == 0o640
    with file.open(tmp_path / "own", "wb", key=KEY) as writer:
        (part,) = tmp_path.glob(".lanecrypt-*.part")
        assert part.stat().st_mode & 0o777 == 0o600
        writer.write(b"x")
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o600
    target.chmod(0o604)
    link.symlink_to("target")
    file.encrypt(io.BytesIO(b"other"), link, key=KEY)
    assert link.is_symlink() and target.stat().st_mode & 0o777 == 0o604
    assert opened(target.read_bytes()) == b"other"
    # In place.
    file.encrypt(source, source, key=KEY)
    file.decrypt(source, source, key=KEY)
    assert source.read_bytes() == b"text" and source.stat().st_mode & 0o777 == 0o640


def test_a_forked_process_writes_nothing(tmp_path):
    path, target = tmp_path / "file", io.BytesIO()
    with file.open(path, "wb", key=KEY) as writer, file.open(target, "wb", key=KEY) as other:
        writer.write(data(CHUNK))
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                for one in (writer, other):
                    for act in (lambda: one.write(data(CHUNK)), one.close):
                        try:
                            act()
                        except RuntimeError:
                            status -= 0.25
                    one.flush()
                    one.discard()
            finally:
                os._exit(int(status * 4))
        assert os.waitpid(pid, 0)[1] == 0
        writer.write(b"more")
    assert opened(path.read_bytes()) == data(CHUNK) + b"more" and opened(target.getvalue()) == b""


def test_nothing_is_pickled_and_calls_do_not_wait():
    writer = file.open(io.BytesIO(), "wb", key=KEY)
    for thing in (writer, file.open(io.BytesIO(sealed(b"")), key=KEY)):
        with pytest.raises(TypeError):
            pickle.dumps(thing)
        assert KEY.hex() not in repr(thing) and "horse" not in repr(thing)

    class Again(io.BytesIO):
        def write(self, content):
            if hasattr(self, "writer"):
                self.writer.write(b"x")
            return super().write(content)

    target = Again()
    writer = target.writer = file.open(target, "wb", key=KEY)
    with pytest.raises(RuntimeError, match="in use by another call"):
        writer.write(data(9 * CHUNK))


def test_other_threads_run_meanwhile(ticks_during):
    content = data(1 << 24)
    # The methods of what is read and written do not release the lock.
    assert ticks_during(lambda: file.encrypt(io.BytesIO(content), io.BytesIO(), key=KEY)) > 0


def test_names_of_the_exceptions():
    for name in ("NotEncrypted", "UnsupportedFile", "TruncatedFile", "CostRefused", "FileError"):
        kind = getattr(file, name)
        assert kind.__module__ == "lanecrypt.file" and issubclass(kind, ValueError)
    assert file.InvalidTag is lanecrypt.InvalidTag
