"""Encrypted files: those of the program ``lanecrypt`` and of ``lanecrypt::file`` in Rust.

>>> import os, tempfile
>>> from lanecrypt import file, token_bytes
>>> key, path = token_bytes(32), os.path.join(tempfile.mkdtemp(), "notes.lanecrypt")
>>> with file.open(path, "wb", key=key) as notes:
...     notes.write(b"any number of bytes")
19
>>> with file.open(path, key=key) as notes:
...     notes.read()
b'any number of bytes'

A file is encrypted with a key of 32 random bytes, or with a passphrase, which costs the time and memory of
Argon2id each time. Each file has a key of its own, so one secret serves any number of files. Chunks of
64 KiB are authenticated one by one: memory does not grow with files, and nothing is returned or written
before it was verified. Every error of a file names it: ``InvalidTag`` if it was changed or the key is
another one, otherwise a ``FileError``.

A path that is written is complete or absent. The file is written beside it as ``.lanecrypt-*.part``, with
access for its user alone, synced, and renamed. It has the permissions of its source, if that is a path, or
those of the file that it replaces, or else none for other users. After SIGKILL the ``.part`` stays.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, overload

from lanecrypt._lanecrypt import (
    CostRefused,
    FileError,
    FileReader,
    FileWriter,
    InvalidTag,
    NotEncrypted,
    TruncatedFile,
    UnsupportedFile,
    decrypt_file,
    encrypt_file,
    token_hex,
)

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Buffer

    Path = str | os.PathLike[str]
    Cost = tuple[int, int, int]

__all__ = [
    "CostRefused",
    "FileError",
    "InvalidTag",
    "NotEncrypted",
    "TruncatedFile",
    "UnsupportedFile",
    "Writer",
    "decrypt",
    "encrypt",
    "open",
]

_ALGORITHM = "aes-256-gcm"
_CHUNK = 1 << 16


def encrypt(
    source: Path | BinaryIO,
    target: Path | BinaryIO,
    *,
    key: Buffer | None = None,
    passphrase: str | Buffer | None = None,
    algorithm: str = _ALGORITHM,
    cost: Cost | None = None,
) -> int:
    """Encrypts a file to another one, which is replaced, and returns how many bytes it had.

    Both are paths or binary file objects, which are not closed. ``algorithm`` is ``aes-256-gcm``,
    ``chacha20-poly1305`` or ``xchacha20-poly1305``; ``cost``, of a passphrase, is the memory in KiB, the
    passes and the lanes of Argon2id. A text is a passphrase as UTF-8.

    >>> import io
    >>> sealed = io.BytesIO()
    >>> encrypt(io.BytesIO(b"text"), sealed, passphrase="correct horse battery staple")
    4
    """
    with _source(source) as opened, _target(target, opened, source) as made:
        return encrypt_file(
            opened,
            made,
            key=key,
            passphrase=_words(passphrase),
            algorithm=algorithm,
            cost=cost,
            name=_name(target),
        )


def decrypt(
    source: Path | BinaryIO,
    target: Path | BinaryIO,
    *,
    key: Buffer | None = None,
    passphrase: str | Buffer | None = None,
) -> int:
    """Decrypts a file to another one, which is replaced, and returns how many bytes it has.

    If the target is a path, it is only there if all of the file is authentic. What is written to a file
    object is authentic; that it is all of the file is certain only if no error is raised.

    >>> import io
    >>> sealed = io.BytesIO()
    >>> encrypt(io.BytesIO(b"text"), sealed, key=bytes(32))
    4
    >>> decrypt(io.BytesIO(sealed.getvalue()[:-1]), io.BytesIO(), key=bytes(32))
    Traceback (most recent call last):
    ...
    lanecrypt.InvalidTag: the file: not authentic, or cut off, in chunk 0 at byte 80
    """
    with _source(source) as opened, _target(target, opened, source) as made:
        return decrypt_file(
            opened, made, key=key, passphrase=_words(passphrase), name=_name(source)
        )


@overload
def open(
    file: Path | BinaryIO,
    mode: Literal["r", "rb"] = "rb",
    *,
    key: Buffer | None = None,
    passphrase: str | Buffer | None = None,
) -> io.BufferedReader: ...


@overload
def open(
    file: Path | BinaryIO,
    mode: Literal["w", "wb", "x", "xb"],
    *,
    key: Buffer | None = None,
    passphrase: str | Buffer | None = None,
    algorithm: str = _ALGORITHM,
    cost: Cost | None = None,
) -> Writer: ...


def open(
    file: Path | BinaryIO,
    mode: str = "rb",
    *,
    key: Buffer | None = None,
    passphrase: str | Buffer | None = None,
    algorithm: str = _ALGORITHM,
    cost: Cost | None = None,
) -> io.BufferedReader | Writer:
    """Opens a file as ``gzip.open`` does: to read (``"rb"``), to write (``"wb"``), or to write one that must
    not be there (``"xb"``). ``file`` is a path or a binary file object, which is not closed.

    What is read is authentic; a reader cannot seek. The file was whole if it is read to its end without an
    error: who acts on a part of it must be able to undo that.

    What is written is a file once ``close`` returns, which the end of ``with`` calls. A block that ends
    with an exception leaves nothing at a path, and what was there before stays. A file object then has a
    truncated file, which every reader refuses.
    """
    if mode in ("r", "rb"):
        raw = _Raw(file, key=key, passphrase=_words(passphrase))
        return io.BufferedReader(raw, buffer_size=_CHUNK)
    if mode not in ("w", "wb", "x", "xb"):
        raise ValueError(f'the mode is "rb", "wb" or "xb", not {mode!r}')
    return Writer(
        file,
        key=key,
        passphrase=passphrase,
        algorithm=algorithm,
        cost=cost,
        exclusive=mode.startswith("x"),
    )


class Writer(io.BufferedIOBase):
    """A file that is encrypted while it is written; ``open`` makes it.

    Only ``close`` completes it, and the end of ``with``. If it is discarded, or deallocated without that, there
    is no file. A wrapper such as ``io.TextIOWrapper`` calls ``close`` whenever it is closed itself, also after
    an exception. A writer belongs to the process that has opened it: a forked one would use its nonces again.
    """

    _process = 0
    _part: _Part | None = None

    def __init__(
        self,
        file: Path | BinaryIO,
        *,
        key: Buffer | None,
        passphrase: str | Buffer | None,
        algorithm: str = _ALGORITHM,
        cost: Cost | None = None,
        exclusive: bool = False,
    ) -> None:
        self._process = os.getpid()
        if not hasattr(file, "write"):
            self._part = _Part(file, exclusive=exclusive)
        try:
            self._sealing = FileWriter(
                file if self._part is None else self._part.file,
                key=key,
                passphrase=_words(passphrase),
                algorithm=algorithm,
                cost=cost,
                name=_name(file),
            )
        except BaseException:
            self.discard()
            raise

    def _check(self) -> None:
        if self.closed:
            raise ValueError("write to a closed file")
        if self._process != os.getpid():
            raise RuntimeError("a file that another process writes, from which this one was forked")

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Encrypts these bytes behind those before, and returns how many they are."""
        self._check()
        if not isinstance(data, (bytes, bytearray)):
            view = memoryview(data)
            # Elements of any kind, such as the buffers of pyarrow.
            data = view.cast("B") if view.nbytes else b""
        return self._sealing.write(data)

    def flush(self) -> None:
        """Writes the chunks that are whole; the last one, with what is left, is written by ``close``."""
        if self.closed:
            raise ValueError("flush of a closed file")
        # Also called by the base class when it closes, and of what a forked process has.
        if self._process == os.getpid():
            self._sealing.flush()

    def close(self) -> None:
        """Completes the file. After an error there is none."""
        if self.closed:
            return
        self._check()
        try:
            self._sealing.finish()
            if self._part is not None:
                self._part.commit()
        except BaseException:
            self.discard()
            raise
        self._end()

    def discard(self) -> None:
        """Closes without completing the file: it is removed, and what was there before stays."""
        if not self.closed and self._process == os.getpid() and self._part is not None:
            self._part.remove()
        self._end()

    def _end(self) -> None:
        # Of the base class `close` is all that says "closed", and it flushes.
        self._process = 0
        super().close()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        self.discard()


class _Raw(io.RawIOBase):
    """A file that is decrypted while it is read."""

    _own: io.FileIO | None = None

    def __init__(self, file: Path | BinaryIO, *, key: Buffer | None, passphrase: Buffer | None) -> None:
        if not hasattr(file, "read"):
            self._own = builtins.open(file, "rb", buffering=0)
        source = file if self._own is None else self._own
        try:
            self._opening = FileReader(source, key=key, passphrase=passphrase, name=_name(file))
        except BaseException:
            self.close()
            raise

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with memoryview(buffer).cast("B") as room:
            data = self._opening.read(len(room))
            room[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        # In steps of whole chunks.
        return b"".join(iter(lambda: self._opening.read(_CHUNK), b""))

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
        super().close()


class _Part:
    """A new file beside its place."""

    def __init__(
        self, path: Path, *, exclusive: bool = False, like: os.stat_result | None = None
    ) -> None:
        self.exclusive = exclusive
        # A link stays, and what it points to is replaced.
        self.place = os.path.realpath(os.fspath(path))
        status = None
        try:
            status = os.stat(self.place)
        except FileNotFoundError:
            pass
        if status is not None and exclusive:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        if status is not None and stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{_name(path)} is not a regular file: open it, and pass the file")
        self.like = like or status
        self.path = os.path.join(os.path.dirname(self.place), f".lanecrypt-{token_hex(8)}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self.file = builtins.open(os.open(self.path, flags, 0o600), "wb", buffering=0)

    def commit(self) -> None:
        """Puts it into its place."""
        number = self.file.fileno()
        if self.like is not None:
            mode = self.like.st_mode & 0o777
            if os.fstat(number).st_gid != self.like.st_gid:
                try:
                    os.fchown(number, -1, self.like.st_gid)
                except PermissionError:
                    # The rights are those of another group.
                    mode &= 0o707
            os.fchmod(number, mode)
        os.fsync(number)
        self.file.close()
        if self.exclusive:
            os.link(self.path, self.place)
            os.unlink(self.path)
        else:
            os.replace(self.path, self.place)

    def remove(self) -> None:
        self.file.close()
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            pass


def _source(source: Path | BinaryIO) -> Any:
    return nullcontext(source) if hasattr(source, "read") else builtins.open(source, "rb", buffering=0)


@contextmanager
def _target(target: Path | BinaryIO, opened: Any, source: Path | BinaryIO) -> Iterator[Any]:
    if hasattr(target, "write"):
        yield target
        return
    status = None if opened is source else os.fstat(opened.fileno())
    like = status if status is not None and stat.S_ISREG(status.st_mode) else None
    part = _Part(target, like=like)
    try:
        yield part.file
        part.commit()
    except BaseException:
        part.remove()
        raise


def _words(passphrase: str | Buffer | None) -> Buffer | None:
    return passphrase.encode() if isinstance(passphrase, str) else passphrase


def _name(file: Any) -> str:
    """What errors call a file."""
    return os.fsdecode(file) if isinstance(file, (str, bytes, os.PathLike)) else "the file"
