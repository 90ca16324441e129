"""The same results and the same exceptions as `cryptography`, both ways."""

import array
import os
import random

import numpy
import pytest
from cryptography.exceptions import InvalidTag

import lanecrypt

CASES = int(os.environ.get("LANECRYPT_CASES", "300"))


def buffers(draw, data):
    """`data` as one of the objects that both take."""
    kind = draw.randrange(5)
    if kind == 0:
        return data
    if kind == 1:
        return bytearray(data)
    if kind == 2:
        return memoryview(b"x" + data)[1:]
    if kind == 3:
        return numpy.frombuffer(data, dtype="u1")
    return array.array("B", data)


def length(draw):
    edges = [0, 1, 15, 16, 17, 63, 64, 65, 255, 256, 4079, 4080, 4081, 4096, 65535, 65536, 65537]
    return draw.choice(edges) if draw.random() < 0.5 else draw.randrange(2000)


def test_random_messages(pair):
    ours, theirs, key_length, nonce_length = pair
    draw = random.Random(f"{ours.__name__} {key_length}")
    for _ in range(CASES):
        key, nonce = draw.randbytes(key_length), draw.randbytes(nonce_length)
        if ours is lanecrypt.AESGCM and draw.random() < 0.2:
            nonce = draw.randbytes(draw.randrange(8, 129))
        data, aad = draw.randbytes(length(draw)), draw.randbytes(length(draw))
        if draw.random() < 0.3:
            aad = None
        given = aad if aad is None else buffers(draw, aad)
        own, their = ours(buffers(draw, key)), theirs(key)

        right = their.encrypt(nonce, data, aad)
        assert own.encrypt(buffers(draw, nonce), buffers(draw, data), given) == right
        assert own.decrypt(buffers(draw, nonce), buffers(draw, right), given) == data
        assert their.decrypt(nonce, own.encrypt(nonce, data, aad), aad) == data

        packet, message = bytearray(len(right)), bytearray(len(data))
        assert own.encrypt_into(nonce, buffers(draw, data), given, packet) == len(right)
        assert packet == right
        assert own.decrypt_into(nonce, buffers(draw, right), given, message) == len(data)
        assert message == data

        changed = bytearray(right)
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        message = bytearray(b"\xa5" * len(data))
        for call in (
            lambda: own.decrypt(nonce, buffers(draw, bytes(changed)), given),
            lambda: own.decrypt(nonce, right, b"no such data"),
            lambda: own.decrypt_into(nonce, changed, given, message),
        ):
            with pytest.raises(lanecrypt.InvalidTag):
                call()
        assert message == b"\xa5" * len(data), "nothing is written that is not authentic"


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__, str(error).replace("AEADs", ""), error.args


def test_refusals(pair):
    """Wrong arguments raise the same exceptions, with the same messages."""
    ours, theirs, key_length, nonce_length = pair
    key, n = bytes(range(key_length)), bytes(nonce_length)
    strided = memoryview(bytearray(64))[::2]
    sealed = theirs(key).encrypt(n, b"data", b"aad")

    def calls(kind):
        c = kind(key)
        yield from (lambda k=k: kind(k) and 0 for k in (object(), "0" * 32, None))
        if ours is not lanecrypt.AESGCMSIV:
            yield from (lambda k=k: kind(k) and 0 for k in (bytes(31), b""))
        yield lambda: kind()
        yield lambda: kind(memoryview(bytes(2 * key_length))[::2])
        yield lambda: kind.generate_key(object())
        if ours is lanecrypt.AESGCM:
            yield from (lambda b=b: kind.generate_key(b) for b in (0, 127, 129, 512))
            yield lambda: kind.generate_key()
        for nonce in (b"", bytes(7), bytes(129), object(), "0" * 12, None, strided):
            yield lambda nonce=nonce: c.encrypt(nonce, b"data", None)
            yield lambda nonce=nonce: c.decrypt(nonce, b"data", None)
            yield lambda nonce=nonce: c.encrypt_into(nonce, b"data", None, bytearray(20))
            yield lambda nonce=nonce: c.decrypt_into(nonce, sealed, b"aad", bytearray(4))
        wrong = (
            object(), "text", None, 5, [1], strided, array.array("H", [1]), numpy.zeros(3),
            numpy.zeros((4, 4), "u1", order="F"), numpy.zeros(4, "i1"),
        )
        for data in wrong:
            yield lambda data=data: c.encrypt(n, data, None)
            yield lambda data=data: c.decrypt(n, data, None)
            if data is not None:
                yield lambda data=data: c.encrypt(n, b"data", data)
            yield lambda data=data: c.encrypt_into(n, b"data", b"aad", data)
        yield lambda: c.encrypt(n, numpy.zeros((4, 4), "u1"), None)
        yield lambda: c.encrypt(n, b"data")
        yield lambda: c.encrypt()
        yield lambda: c.encrypt(n, b"data", None, None)
        yield lambda: c.encrypt(nonce=n, data=b"data", associated_data=b"aad")
        yield lambda: c.encrypt(n, b"data", aad=b"aad")
        for packet in (b"", b"x", bytes(15), bytes(16), bytes(20)):
            yield lambda packet=packet: c.decrypt(n, packet, None)
            yield lambda packet=packet: c.decrypt_into(n, packet, None, bytearray(4))
        for buf in (bytearray(19), bytearray(21), bytes(20), memoryview(bytes(20)), strided):
            yield lambda buf=buf: c.encrypt_into(n, b"data", b"aad", buf)
        for buf in (bytearray(3), bytearray(5), bytes(4), strided):
            yield lambda buf=buf: c.decrypt_into(n, sealed, b"aad", buf)

    compared = 0
    for own, their in zip(calls(ours), calls(theirs), strict=True):
        assert outcome(own) == outcome(their)
        compared += 1
    assert compared > 80


def test_in_place(pair):
    ours, theirs, key_length, nonce_length = pair
    for size in (0, 5, 4000, 5000, 70000):
        key, nonce, data = os.urandom(key_length), os.urandom(nonce_length), os.urandom(size)
        memory = bytearray(data + bytes(16))
        ours(key).encrypt_into(nonce, memoryview(memory)[:size], b"", memory)
        assert memory == theirs(key).encrypt(nonce, data, b"")
        ours(key).decrypt_into(nonce, memory, b"", memoryview(memory)[:size])
        assert memory[:size] == data


def test_exceptions_are_related_as_theirs():
    assert lanecrypt.InvalidTag.__mro__[1:] == InvalidTag.__mro__[1:]
    assert lanecrypt.InvalidTag.__name__ == InvalidTag.__name__


def test_aesgcmsiv_has_the_keys_of_the_rfc():
    """`cryptography` also takes 192 bits, which RFC 8452 does not define."""
    for length in (0, 15, 24, 31, 33):
        with pytest.raises(ValueError, match="128 or 256 bits"):
            lanecrypt.AESGCMSIV(bytes(length))
    for bits in (0, 129, 192):
        with pytest.raises(ValueError, match="bit_length must be 128 or 256"):
            lanecrypt.AESGCMSIV.generate_key(bits)
