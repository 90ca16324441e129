"""The examples of the documentation of `cryptography`, on both packages."""

import os

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import aead as theirs

import lanecrypt as ours


@pytest.mark.parametrize("module", [theirs, ours], ids=["cryptography", "lanecrypt"])
def test_documented_examples(module):
    data, aad = b"a secret message", b"authenticated but unencrypted data"

    chacha = module.ChaCha20Poly1305(module.ChaCha20Poly1305.generate_key())
    nonce = os.urandom(12)
    ct = chacha.encrypt(nonce, data, aad)
    assert chacha.decrypt(nonce, ct, aad) == b"a secret message"

    aesgcm = module.AESGCM(module.AESGCM.generate_key(bit_length=128))
    nonce = os.urandom(12)
    ct = aesgcm.encrypt(nonce, data, aad)
    assert aesgcm.decrypt(nonce, ct, aad) == b"a secret message"

    aesgcmsiv = module.AESGCMSIV(module.AESGCMSIV.generate_key(bit_length=128))
    nonce = os.urandom(12)
    ct = aesgcmsiv.encrypt(nonce, data, aad)
    assert aesgcmsiv.decrypt(nonce, ct, aad) == b"a secret message"

    aessiv = module.AESSIV(module.AESSIV.generate_key(bit_length=512))
    nonce = os.urandom(16)
    ct = aessiv.encrypt(data, [aad, nonce])
    assert aessiv.decrypt(ct, [aad, nonce]) == b"a secret message"

    with pytest.raises((InvalidTag, ours.InvalidTag)):
        aesgcm.decrypt(nonce, ct, b"other data")


def test_keys_are_random():
    assert len({ours.AESGCM.generate_key(128) for _ in range(100)}) == 100
    assert [len(ours.AESGCM.generate_key(bits)) for bits in (128, 192, 256)] == [16, 24, 32]
    assert len(ours.ChaCha20Poly1305.generate_key()) == 32
    assert len(ours.XChaCha20Poly1305.generate_key()) == 32


def test_xchacha_draft_vector():
    """draft-irtf-cfrg-xchacha-03, A.3.1."""
    key = bytes(range(0x80, 0xA0))
    nonce = bytes(range(0x40, 0x58))
    aad = bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
    message = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the "
        b"future, sunscreen would be it."
    )
    sealed = ours.XChaCha20Poly1305(key).encrypt(nonce, message, aad)
    assert sealed[-16:].hex() == "c0875924c1c7987947deafd8780acf49"
    assert sealed[:16].hex() == "bd6d179d3e83d43b9576579493c0e939"
    assert ours.XChaCha20Poly1305(key).decrypt(nonce, sealed, aad) == message
