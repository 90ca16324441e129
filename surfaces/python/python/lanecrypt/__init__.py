"""Small cryptographic requests, quick: authenticated ciphers and random numbers.

>>> from lanecrypt import AESGCM, token_bytes
>>> key = AESGCM.generate_key(bit_length=256)
>>> cipher = AESGCM(key)
>>> nonce = token_bytes(12)  # never the same twice under one key
>>> sealed = cipher.encrypt(nonce, b"a secret message", b"a header")
>>> cipher.decrypt(nonce, sealed, b"a header")
b'a secret message'

The ciphers have the methods of ``cryptography.hazmat.primitives.ciphers.aead``, the random numbers
those of the standard module ``secrets``.
"""

from lanecrypt._lanecrypt import (
    AESGCM,
    AESGCMSIV,
    AESSIV,
    ChaCha20Poly1305,
    InvalidTag,
    XChaCha20Poly1305,
    __version__,
    choice,
    fill,
    isa,
    randbelow,
    randbits,
    random,
    token_bytes,
    token_hex,
    token_urlsafe,
    uuid4,
)
from lanecrypt._random import Random

__all__ = [
    "AESGCM",
    "AESGCMSIV",
    "AESSIV",
    "ChaCha20Poly1305",
    "InvalidTag",
    "Random",
    "XChaCha20Poly1305",
    "__version__",
    "choice",
    "fill",
    "isa",
    "randbelow",
    "randbits",
    "random",
    "token_bytes",
    "token_hex",
    "token_urlsafe",
    "uuid4",
]
