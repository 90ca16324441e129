"""Where keys come from on the machines of a cluster.

A provider is any callable that takes the name of a key and returns its bytes, or a ring of keys. It travels
to the executors and is called there, so that a key itself is never in a plan, a closure or a log. Those here
hold no key: a prefix, a directory, a function. ``lanecrypt.envelope.Wrapped`` has wrapped rings.

>>> import os
>>> from lanecrypt.keys import Environment
>>> os.environ["LANECRYPT_KEY_PEOPLE"] = "00" * 32
>>> len(Environment()("people"))
32
"""

from __future__ import annotations

import os
import stat
import time
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lanecrypt.columns import Keyring

__all__ = ["Environment", "Fetched", "Files", "KeyNotFound"]

Provider = Callable[[str], "bytes | Keyring"]


class KeyNotFound(LookupError):
    """A provider has no usable key of this name. The message has the name, and never a key."""


class Environment:
    """Keys in variables of the environment, in hexadecimal digits.

    The key ``people.ssn`` is the variable ``LANECRYPT_KEY_PEOPLE_SSN``: the prefix, then the name in
    capitals, in which whatever is no letter or digit becomes an underscore.
    """

    def __init__(self, prefix: str = "LANECRYPT_KEY_") -> None:
        self.prefix = prefix

    def __call__(self, name: str) -> bytes:
        variable = self.prefix + "".join(c if c.isalnum() else "_" for c in name.upper())
        value = os.environ.get(variable)
        if value is None:
            raise KeyNotFound(f"key {name!r}: the variable {variable} is not set")
        try:
            return bytes.fromhex(value)
        except ValueError:
            pass
        # Not as the cause, whose traceback some tools show with its values.
        raise KeyNotFound(f"key {name!r}: {variable} is not in hexadecimal digits")


class Files:
    """Keys in files of a directory, as ``lanecrypt keygen`` makes them: the bytes of the key.

    The name of the key is that of the file. A file that other users may read or change is refused.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = os.fspath(directory)

    def __call__(self, name: str) -> bytes:
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise KeyNotFound(f"key {name!r}: not a file name")
        path = os.path.join(self.directory, name)
        try:
            # A pipe or a device must not keep a task waiting.
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise KeyNotFound(f"key {name!r}: {path}: {error.strerror}") from None
        with open(file, "rb") as opened:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise KeyNotFound(f"key {name!r}: {path} is not a regular file")
            if status.st_mode & 0o077 or status.st_uid not in (0, os.geteuid()):
                raise KeyNotFound(f"key {name!r}: others may read or change {path}: chmod 600")
            key = opened.read(4097)
            if len(key) > 4096:
                raise KeyNotFound(f"key {name!r}: {path} is too long for a key")
            return key


class Fetched:
    """Keys that a function fetches, from a key service for example.

    The function gets the name and returns the bytes. It is called on the executors, and what it returns
    stays in the memory of that process, and is used again for ``seconds``; with ``None``, always.
    The function travels with the plan, so it must not contain a key.
    """

    def __init__(self, function: Callable[[str], bytes], seconds: float | None = None) -> None:
        self.function = function
        self.seconds = seconds
        # What is kept belongs to this object, and to its copies in other processes.
        self._id = uuid.uuid4().hex

    def __call__(self, name: str) -> bytes:
        now = time.monotonic()
        kept = _KEPT.get((self._id, name))
        if kept is not None and (self.seconds is None or now - kept[0] < self.seconds):
            return kept[1]
        key = bytes(self.function(name))
        _KEPT[self._id, name] = (now, key)
        return key


# Of this process, and never pickled.
_KEPT: dict[tuple[str, str], tuple[float, bytes]] = {}


def provider(keys: Any) -> Provider:
    """Checks that ``keys`` is a provider, and not the keys themselves."""
    if isinstance(keys, (bytes, bytearray, memoryview, str, Mapping)):
        raise TypeError(
            "keys= takes a provider, which is called on the executors, not the keys: they would be"
            " in the plan. See lanecrypt.keys"
        )
    if not callable(keys):
        raise TypeError(f"keys= takes a callable from names to bytes, not {type(keys).__name__}")
    checked: Provider = keys
    return checked
