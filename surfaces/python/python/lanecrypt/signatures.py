"""Signatures: EdDSA (Ed25519), ECDSA with P-256, and RSA, one at a time and by the thousand.

>>> from lanecrypt import token_bytes
>>> from lanecrypt.signatures import InvalidSignature, SigningKey, verify_many
>>> key = SigningKey(token_bytes(32), "EdDSA")  # or PEM, or DER
>>> signature = key.sign(b"a message")
>>> public = key.verifying_key()
>>> public.verify(b"a message", signature)
>>> try:
...     public.verify(b"another message", signature)
... except InvalidSignature:
...     print("wrong")
wrong
>>> verify_many(public, [b"a message", b"another message"], [signature, signature])
[True, False]

Algorithms have the names of JOSE, and signatures the form that they have there:

- ``EdDSA`` or ``Ed25519``: 64 bytes (RFC 8032). Verification is strict.
- ``ES256``: ECDSA with P-256 and SHA-256, r and s, 64 bytes. ``ES256-DER``: the same in DER, as in X.509,
  TLS and certificate transparency, and as the package ``cryptography`` has them.
- ``PS256``, ``PS384``, ``PS512``: RSA-PSS, with a salt as long as the hash.
- ``RS256``, ``RS384``, ``RS512``: RSA, PKCS #1 v1.5.

A key has its algorithm from the program, never from the header of a token: who forges a token, chooses its
header. Keys, messages and signatures may be anything with a contiguous buffer of bytes. The interpreter's
lock is released meanwhile. Signing is constant time in the key; verifying is not, because all is public.
"""

from lanecrypt._lanecrypt import InvalidSignature, SigningKey, VerifyingKey, verify_many

__all__ = ["InvalidSignature", "SigningKey", "VerifyingKey", "verify_many"]
