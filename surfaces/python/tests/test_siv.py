"""AES-SIV beside `cryptography`, both ways."""

import os
import random

import pytest
from cryptography.hazmat.primitives.ciphers import aead as theirs
from test_same_as_cryptography import CASES, buffers, length, outcome

import lanecrypt


@pytest.mark.parametrize("key_length", [32, 48, 64])
def test_random_messages(key_length):
    draw = random.Random(key_length)
    for _ in range(CASES):
        key, data = draw.randbytes(key_length), draw.randbytes(length(draw))
        strings = [draw.randbytes(length(draw)) for _ in range(draw.choice([0, 1, 1, 2, 3, 8]))]
        strings = draw.choice([strings, strings, None])
        given = strings and [buffers(draw, string) for string in strings]
        own, their = lanecrypt.AESSIV(buffers(draw, key)), theirs.AESSIV(key)

        right = their.encrypt(data, strings)
        assert own.encrypt(buffers(draw, data), given) == right
        assert own.decrypt(buffers(draw, right), given) == data
        packet, value = bytearray(len(right)), bytearray(b"\xa5" * len(data))
        assert own.encrypt_into(buffers(draw, data), given, packet) == len(right)
        assert packet == right
        packet[draw.randrange(len(packet))] ^= 1 << draw.randrange(8)
        for call in (
            lambda: own.decrypt(packet, given),
            lambda: own.decrypt_into(packet, given, value),
            lambda: own.decrypt(right, [*(strings or []), b"one more"]),
        ):
            with pytest.raises(lanecrypt.InvalidTag):
                call()
        assert value == b"\xa5" * len(data), "nothing is written that is not authentic"
        assert own.decrypt_into(right, given, value) == len(data) and value == data


def test_the_most_strings():
    own, their = lanecrypt.AESSIV(bytes(32)), theirs.AESSIV(bytes(32))
    strings = [bytes([number]) for number in range(126)]
    assert own.encrypt(b"data", strings) == their.encrypt(b"data", strings)
    with pytest.raises(OverflowError):
        own.encrypt(b"data", [*strings, b""])


def test_refusals():
    strided = memoryview(bytearray(64))[::2]

    def calls(kind):
        c = kind(bytes(32))
        yield from (lambda k=k: kind(k) and 0 for k in (b"", bytes(31), bytes(65), object(), "0" * 32))
        yield from (lambda b=b: kind.generate_key(b) for b in (0, 128, 255, "256"))
        for wrong in (object(), "text", None, 5, strided):
            yield lambda wrong=wrong: c.encrypt(wrong, None)
            yield lambda wrong=wrong: c.decrypt(wrong, None)
            yield lambda wrong=wrong: c.encrypt(b"data", [b"", wrong])
            yield lambda wrong=wrong: c.encrypt_into(b"data", [], wrong)
        for wrong in (b"data", "text", (b"data",), 5, {}):
            yield lambda wrong=wrong: c.encrypt(b"data", wrong)
            yield lambda wrong=wrong: c.decrypt(bytes(20), wrong)
        for packet in (b"", bytes(15), bytes(16), bytes(20)):
            yield lambda packet=packet: c.decrypt(packet, None)
            yield lambda packet=packet: c.decrypt_into(packet, None, bytearray(4))
        for buf in (bytearray(19), bytearray(21), bytes(20)):
            yield lambda buf=buf: c.encrypt_into(b"data", None, buf)
        yield lambda: c.encrypt(b"data")
        yield lambda: c.encrypt(data=b"data", associated_data=[b"aad"])

    compared = 0
    for own, their in zip(calls(lanecrypt.AESSIV), calls(theirs.AESSIV), strict=True):
        assert outcome(own) == outcome(their)
        compared += 1
    assert compared > 40


def test_in_place():
    for size in (0, 5, 5000, 70000):
        key, data = os.urandom(64), os.urandom(size)
        memory = bytearray(data + bytes(16))
        lanecrypt.AESSIV(key).encrypt_into(memoryview(memory)[:size], [b"a"], memory)
        assert memory == theirs.AESSIV(key).encrypt(data, [b"a"])
