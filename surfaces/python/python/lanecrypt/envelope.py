"""Envelopes: rings of keys for columns, wrapped by a key that a key service keeps.

>>> from lanecrypt import columns, envelope, token_bytes
>>> kek = envelope.Local(token_bytes(32))  # or Vault(post, "people"), or Kms(client, "alias/people")
>>> ring = columns.Keyring()
>>> text = envelope.wrap_ring(ring, kek)  # JSON; store it anywhere
>>> envelope.unwrap_ring(text, kek).keys == ring.keys
True

The key-encryption key, ``kek``, is any object with ``wrap(key) -> bytes`` and ``unwrap(wrapped) -> bytes``,
which wrap 32 bytes; ``Local``, ``Vault`` and ``Kms`` are such objects. A ring of any size costs one call of
the service: it is encrypted with AES-256-GCM under a new random key, and only that one is wrapped. Its
ids, states and layout can be read in the JSON, and cannot be changed: they are associated data.

Whoever can write the JSON can put an older one of the same ``kek`` in its place, or another ring: rings that
must not be exchanged need a ``kek`` each, or a context each.

``Cached`` saves calls, and ``Wrapped`` is a provider for Spark: the plan has wrapped rings only. No object of
this module can be pickled or copied but ``Wrapped``, which has no key. No error or ``repr`` contains a key.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, SupportsIndex

from lanecrypt import AESGCM, AESGCMSIV, InvalidTag, token_bytes
from lanecrypt.columns import Keyring
from lanecrypt.keys import KeyNotFound

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "Cached",
    "Kek",
    "Kms",
    "Local",
    "Vault",
    "WrapError",
    "Wrapped",
    "unwrap_ring",
    "wrap_ring",
]


class WrapError(Exception):
    """A key service did not wrap or unwrap a key. The message has the cause, and never a key."""


class Kek(Protocol):
    """What wraps keys."""

    def wrap(self, key: bytes, /) -> bytes:
        """The key, encrypted and authenticated."""

    def unwrap(self, wrapped: bytes, /) -> bytes:
        """The key that ``wrap`` was given, or an error."""


# Of the key that encrypts a ring, and of its nonce.
_KEY = 32
_NONCE = 12
_FORMAT = "lanecrypt wrapped ring 1"


def wrap_ring(ring: Keyring, kek: Kek) -> str:
    """The ring as JSON, in which its keys are encrypted and the rest can be read: an object with ``format``,
    ``layout``, ``keys`` (each with ``id`` and ``state``), ``wrapped_key`` and ``ring``, in base64.

    >>> ring = Keyring("aes_gcm", bytes(32), id=7)
    >>> import json
    >>> text = wrap_ring(ring, Local(bytes(32)))
    >>> json.loads(text)["keys"]
    [{'id': 7, 'state': 'primary'}]
    """
    # One call, so that another thread cannot change it in between.
    content = ring.to_json()
    whole = json.loads(content)
    public = {
        "format": _FORMAT,
        "layout": whole["layout"],
        "keys": [{"id": key["id"], "state": key["state"]} for key in whole["keys"]],
    }
    key, nonce = token_bytes(_KEY), token_bytes(_NONCE)
    sealed = nonce + AESGCM(key).encrypt(nonce, content.encode(), _bound(public))
    wrapped = _bytes(kek.wrap(key), "wrap() of the key-encryption key")
    if key in wrapped:
        raise WrapError("wrap() of the key-encryption key left the key as it is")
    return json.dumps({**public, "wrapped_key": _base64(wrapped), "ring": _base64(sealed)})


def unwrap_ring(text: str, kek: Kek) -> Keyring:
    """The ring that ``wrap_ring`` wrapped.

    Raises ValueError for another text, InvalidTag if it was changed, and what ``kek.unwrap`` raises.

    >>> text = wrap_ring(Keyring(), Local(bytes(32)))
    >>> unwrap_ring(text, Local(bytes([1] * 32)))
    Traceback (most recent call last):
    ...
    lanecrypt.InvalidTag: wrapped with another key, or changed
    """
    bound, wrapped, sealed = _parsed(text)
    key = _bytes(kek.unwrap(wrapped), "unwrap() of the key-encryption key")
    if len(key) != _KEY:
        raise WrapError(f"unwrapped a key of {len(key)} bytes where {_KEY} are needed: of something else")
    content = _opened(key, bound, sealed)
    if content is None:
        raise InvalidTag("the wrapped ring was changed, or its key is that of another ring")
    return Keyring.from_json(content.decode())


def _opened(key: bytes, bound: bytes, sealed: bytes) -> bytes | None:
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], bound)
    except (InvalidTag, ValueError):
        return None


def _bound(public: Any) -> bytes:
    """What can be read, in one form only."""
    return json.dumps(public, sort_keys=True, separators=(",", ":")).encode()


def _parsed(text: str) -> tuple[bytes, bytes, bytes]:
    """What can be read, as associated data; the wrapped key; the encrypted ring."""
    later = ""
    try:
        document = json.loads(text)
        if re.fullmatch("lanecrypt wrapped ring [0-9]{1,4}", document["format"]):
            later = document["format"]
        wrapped = base64.b64decode(document.pop("wrapped_key"), validate=True)
        sealed = base64.b64decode(document.pop("ring"), validate=True)
        if document["format"] == _FORMAT:
            return _bound(document), wrapped, sealed
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        pass
    if later not in ("", _FORMAT):
        raise ValueError(f"{later!r}, of a later version: this one reads {_FORMAT!r}")
    # Not as the cause, which has the text: it may be a ring that is not wrapped.
    raise ValueError(f"not what wrap_ring writes, {_FORMAT!r} in JSON")


class _NotPickled:
    """What holds a key, or what a key service accepts."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"cannot pickle {name!r}: pass a function that makes it where it is used")


class Local(_NotPickled):
    """A key-encryption key in this process: AES-GCM-SIV with a key of 16 or 32 bytes.

    ``older`` are keys that unwrap and no longer wrap. A wrapped key is a nonce of 12 bytes, the ciphertext,
    and a tag of 16 bytes.

    >>> old, new = token_bytes(32), token_bytes(32)
    >>> wrapped = Local(old).wrap(b"the key of something")
    >>> Local(new, old).unwrap(wrapped)
    b'the key of something'
    """

    __slots__ = ("_ciphers",)
    _AAD = b"lanecrypt.envelope.Local"

    def __init__(self, key: Buffer, *older: Buffer) -> None:
        self._ciphers = [AESGCMSIV(one) for one in (key, *older)]

    def wrap(self, key: bytes, /) -> bytes:
        """The key, encrypted."""
        nonce = token_bytes(_NONCE)
        return nonce + self._ciphers[0].encrypt(nonce, key, self._AAD)

    def unwrap(self, wrapped: bytes, /) -> bytes:
        """The key that ``wrap`` was given. Raises InvalidTag."""
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], self._AAD)
            except (InvalidTag, ValueError):
                pass
        raise InvalidTag("wrapped with another key, or changed")


class Vault(_NotPickled):
    """A key of the transit engine of HashiCorp Vault, or of OpenBao.

    ``post(path, body)`` is your HTTP client, with address, token, timeouts and TLS: it sends the dict
    ``body`` as JSON to a path such as ``/v1/transit/encrypt/people``, and returns the dict of the answer. It
    raises an exception if the answer is an error. ``context`` is that of keys with ``derived=true``.

    >>> def post(path, body):  # with requests; for hvac: client.adapter.post(path, json=body)
    ...     answer = session.post("https://vault:8200" + path, json=body, timeout=5)
    ...     answer.raise_for_status()
    ...     return answer.json()
    >>> kek = Vault(post, "people")
    """

    def __init__(
        self,
        post: Callable[[str, dict[str, str]], Mapping[str, Any]],
        name: str,
        *,
        mount: str = "transit",
        context: str | Buffer = b"",
    ) -> None:
        for part in (name, *mount.split("/")):
            if part in (".", "..") or not re.fullmatch("[A-Za-z0-9_.-]+", part):
                raise ValueError(f"{part!r} is not the name of a key or of a mount of Vault")
        self._post, self._name, self._mount = post, name, mount
        context = context.encode() if isinstance(context, str) else bytes(context)
        self._context = {"context": _base64(context)} if context else {}

    def __repr__(self) -> str:
        return f"<lanecrypt.envelope.Vault key {self._name!r}>"

    def wrap(self, key: bytes, /) -> bytes:
        """The key, encrypted by Vault: ``vault:v1:…``, in ASCII."""
        wrapped = self._ask("encrypt", {"plaintext": _base64(key)}, "ciphertext", key)
        if not wrapped.startswith("vault:") or not wrapped.isascii():
            raise self._wrong("encrypt", "ciphertext")
        return wrapped.encode()

    def unwrap(self, wrapped: bytes, /) -> bytes:
        """The key that ``wrap`` was given. Raises WrapError."""
        if not wrapped.startswith(b"vault:") or not wrapped.isascii():
            raise WrapError(f"{self}: was not wrapped by Vault")
        text = self._ask("decrypt", {"ciphertext": wrapped.decode()}, "plaintext", b"")
        try:
            return base64.b64decode(text, validate=True)
        except ValueError:
            pass
        raise self._wrong("decrypt", "plaintext")

    def _ask(self, act: str, body: dict[str, str], field: str, key: bytes) -> str:
        path = f"/v1/{self._mount}/{act}/{self._name}"
        answer = _called(f"{self}: {act}", key, self._post, path, {**body, **self._context})
        try:
            value = answer["data"][field]
        except (TypeError, KeyError, IndexError):
            value = None
        if not isinstance(value, str) or not value:
            raise self._wrong(act, field)
        return value

    def _wrong(self, act: str, field: str) -> WrapError:
        return WrapError(f"{self}: {act}: the answer has no right data.{field}")


class Kms(_NotPickled):
    """A symmetric key of AWS KMS.

    ``client`` is ``boto3.client("kms")``, or another object with its methods ``encrypt`` and ``decrypt``.
    ``key_id`` is the id, ARN or alias of the key; keys that another one has wrapped are refused by KMS.
    ``context`` is the encryption context, which is in the logs of KMS.

    >>> kek = Kms(boto3.client("kms"), "alias/people", context={"table": "people"})  # doctest: +SKIP
    """

    def __init__(self, client: Any, key_id: str, *, context: Mapping[str, str] | None = None) -> None:
        self._client, self._key_id, self._context = client, key_id, dict(context or {})

    def __repr__(self) -> str:
        return f"<lanecrypt.envelope.Kms key {self._key_id!r}>"

    def wrap(self, key: bytes, /) -> bytes:
        """The key, encrypted by KMS."""
        return self._ask("encrypt", "Plaintext", "CiphertextBlob", key, key)

    def unwrap(self, wrapped: bytes, /) -> bytes:
        """The key that ``wrap`` was given. Raises WrapError."""
        return self._ask("decrypt", "CiphertextBlob", "Plaintext", wrapped, b"")

    def _ask(self, act: str, given: str, field: str, value: bytes, key: bytes) -> bytes:
        call = getattr(self._client, act)
        arguments = {"KeyId": self._key_id, given: value, "EncryptionContext": self._context}
        answer = _called(f"{self}: {act}", key, call, **arguments)
        try:
            made = answer[field]
        except (TypeError, KeyError, IndexError):
            made = None
        if not isinstance(made, bytes) or not made:
            raise WrapError(f"{self}: {act}: the answer has no right {field}")
        return made


def _called(act: str, key: bytes, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Calls a client. Its errors may have requests and answers in them, with the key: they are neither the
    cause nor the context of what is raised, and their text must not have it.
    """
    try:
        return call(*arguments, **named)
    except Exception as error:
        kind, text = type(error).__name__, str(error)
    forms = [_letters(form) for form in (_base64(key), key.hex(), repr(key)) if key]
    if "plaintext" in text.lower() or any(form in _letters(text) for form in forms):
        text = "its text may have the key in it"
    raise WrapError(f"{act}: {kind}: {' '.join(text.split())[:500]}")


def _letters(text: str) -> str:
    """What escapes and quotation marks do not change."""
    return "".join(c for c in text.lower() if c.isalnum())


class Cached(_NotPickled):
    """A key-encryption key that remembers what it has unwrapped.

    A key is unwrapped again after so many ``seconds`` or ``uses``, whichever comes first, and of more than
    ``entries`` keys the one that was not used for longest is forgotten. Keys that are too old are dropped with
    the next call, or by ``clear``. Errors are not remembered. It serves any number of threads; a forked
    process begins with nothing.

    >>> kek = Cached(Local(bytes(32)), seconds=60, uses=100)
    >>> wrapped = kek.wrap(b"key")
    >>> kek.unwrap(wrapped), kek.unwrap(wrapped), kek.kept
    (b'key', b'key', 1)
    """

    def __init__(
        self,
        kek: Kek,
        *,
        seconds: float = 300.0,
        uses: int = 1000,
        entries: int = 100,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not (seconds > 0 and uses > 0 and entries > 0):
            raise ValueError("seconds=, uses= and entries= are more than 0")
        self._kek, self._clock = kek, clock
        self._seconds, self._uses, self._entries = seconds, uses, entries
        self._state = _State()

    @property
    def kept(self) -> int:
        """How many keys it has in memory."""
        state = self._own()
        with state.lock:
            return len(state.kept)

    def wrap(self, key: bytes, /) -> bytes:
        """The key, encrypted; this is not remembered."""
        return self._kek.wrap(key)

    def unwrap(self, wrapped: bytes, /) -> bytes:
        """The key that ``wrap`` was given."""
        wrapped = bytes(wrapped)
        state = self._own()
        with state.lock:
            self._drop_old(state)
            if (kept := state.kept.get(wrapped)) is not None:
                kept.left -= 1
                if kept.left <= 0:
                    del state.kept[wrapped]
                else:
                    state.kept.move_to_end(wrapped)
                return kept.key
        # Without the lock: other keys do not wait for the service.
        before = self._clock()
        key = _bytes(self._kek.unwrap(wrapped), "unwrap() of the key-encryption key")
        with state.lock:
            # Of threads that asked at the same time one is enough.
            if self._uses > 1 and wrapped not in state.kept:
                self._drop_old(state)
                while len(state.kept) >= self._entries:
                    state.kept.popitem(last=False)
                state.kept[wrapped] = _Kept(key, before + self._seconds, self._uses - 1)
                self._drop_old(state)
        return key

    def clear(self) -> None:
        """Forgets all keys."""
        self._state = _State()

    def _own(self) -> _State:
        """What belongs to this process: a lock that was forked may be held by nobody."""
        state = self._state
        if state.process != os.getpid():
            state = self._state = _State()
        return state

    def _drop_old(self, state: _State) -> None:
        now = self._clock()
        for wrapped in [wrapped for wrapped, kept in state.kept.items() if kept.end <= now]:
            del state.kept[wrapped]


class _Kept:
    __slots__ = ("end", "key", "left")

    def __init__(self, key: bytes, end: float, left: int) -> None:
        self.key, self.end, self.left = key, end, left


class _State:
    __slots__ = ("kept", "lock", "process")

    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.kept: OrderedDict[bytes, _Kept] = OrderedDict()


class Wrapped:
    """Wrapped rings, as a provider for ``lanecrypt.spark``: the executors unwrap them.

    ``rings`` has the text of ``wrap_ring`` for each name. ``kek`` is a function that makes the key-encryption
    key. The executors call it once in each process, and remember what it unwraps as ``Cached`` does. It
    travels with the plan, so it must not contain a key or a token: it finds them there, in a file or in the
    environment. A ring stays for the time of its task, and with functions of SQL as long as their worker.

    >>> def kek():
    ...     return Local(Files("/etc/lanecrypt/keys")("kek"))
    >>> keys = Wrapped({"people-key": wrap_ring(Keyring(), Local(bytes(32)))}, kek)
    """

    def __init__(
        self,
        rings: Mapping[str, str],
        kek: Callable[[], Kek],
        *,
        seconds: float = 300.0,
        uses: int = 1000,
    ) -> None:
        if not isinstance(rings, Mapping):
            raise TypeError("the rings are a dict from names to the texts of wrap_ring")
        for name, text in rings.items():
            if not isinstance(text, str):
                raise TypeError(f"ring {name!r} is not the text of wrap_ring: keys would be in the plan")
            _parsed(text)
        if not callable(kek):
            raise TypeError("kek= is a function that makes the key-encryption key on the executors")
        if not (seconds > 0 and uses > 0):
            raise ValueError("seconds= and uses= are more than 0")
        self.rings, self.kek, self.seconds, self.uses = dict(rings), kek, seconds, uses
        self._id = uuid.uuid4().hex

    def __call__(self, name: str) -> Keyring:
        text = self.rings.get(name)
        if text is None:
            raise KeyNotFound(f"key {name!r}: no such wrapped ring; there are {sorted(self.rings)}")
        place = (os.getpid(), self._id)
        kek = _KEKS.get(place)
        if kek is None:
            kek = _KEKS[place] = Cached(self.kek(), seconds=self.seconds, uses=self.uses)
            while len(_KEKS) > _MOST_KEKS:
                _KEKS.pop(next(iter(_KEKS)), None)
        return unwrap_ring(text, kek)


# Of this process, and never pickled.
_KEKS: dict[tuple[int, str], Cached] = {}
_MOST_KEKS = 16


def _bytes(value: Any, what: str) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise WrapError(f"{what} gave {type(value).__name__}, not bytes")
    return bytes(value)


def _base64(value: bytes) -> str:
    return binascii.b2a_base64(value, newline=False).decode()
