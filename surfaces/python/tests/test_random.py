"""Random numbers: the interface of `secrets` and `random`, ranges, and distribution in outline."""

import pickle
import random
import secrets
import uuid

import pytest

import lanecrypt


def outcome(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def test_tokens():
    for size in (0, 1, 2, 3, 16, 31, 32, 33, 64, 65, 1000, 100_000):
        assert len(lanecrypt.token_bytes(size)) == size
        text = lanecrypt.token_hex(size)
        assert len(bytes.fromhex(text)) == size and text == text.lower()
        assert len(lanecrypt.token_urlsafe(size)) == len(secrets.token_urlsafe(size))
    assert [len(lanecrypt.token_bytes()), len(lanecrypt.token_bytes(None))] == [32, 32]
    assert [len(lanecrypt.token_hex()), len(lanecrypt.token_urlsafe())] == [64, 43]
    for name in ("token_bytes", "token_hex", "token_urlsafe"):
        own, their = getattr(lanecrypt, name), getattr(secrets, name)
        assert outcome(lambda: own("1"))[0] == outcome(lambda: their("1"))[0]
        assert outcome(lambda: own(-1))[0] == outcome(lambda: their(-1))[0] == "ValueError"


def test_every_letter_of_the_texts():
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    assert set(lanecrypt.token_urlsafe(30_000)) == set(letters)
    assert set(lanecrypt.token_hex(10_000)) == set("0123456789abcdef")
    # Each is as frequent as the others: 40,000 draws, 6.6 standard deviations.
    text = lanecrypt.token_urlsafe(30_000)
    assert all(abs(text.count(letter) - 625) < 165 for letter in letters)


def test_randbelow():
    for bound in (1, 2, 3, 6, 255, 256, 2**32, 2**63, 2**64 - 1, 2**64, 2**64 + 1, 3**100):
        numbers = [lanecrypt.randbelow(bound) for _ in range(200)]
        assert all(0 <= number < bound for number in numbers)
        assert bound < 2 or len(set(numbers)) > 1
        if bound > 2**32:
            assert max(numbers) > bound // 2 > min(numbers)
    counts = [0] * 6
    for _ in range(60_000):
        counts[lanecrypt.randbelow(6)] += 1
    assert all(abs(count - 10_000) < 600 for count in counts)
    for bound in (0, -1, -(2**70)):
        own = outcome(lambda bound=bound: lanecrypt.randbelow(bound))
        assert own == outcome(lambda bound=bound: secrets.randbelow(bound))
    assert outcome(lambda: lanecrypt.randbelow("6"))[0] == "TypeError"


def test_randbits():
    assert lanecrypt.randbits(0) == 0
    for bits in (1, 7, 8, 31, 32, 63, 64, 65, 127, 128, 129, 1000):
        every = 0
        for _ in range(100):
            number = lanecrypt.randbits(bits)
            assert 0 <= number < 1 << bits
            every |= number
        assert every == (1 << bits) - 1
    own = outcome(lambda: lanecrypt.randbits(-1))
    assert own == outcome(lambda: secrets.randbits(-1))


def test_choice():
    assert {lanecrypt.choice("abc") for _ in range(200)} == set("abc")
    assert {lanecrypt.choice([1, 2]) for _ in range(100)} == {1, 2}
    for empty in ("", [], ()):
        own = outcome(lambda empty=empty: lanecrypt.choice(empty))
        assert own == outcome(lambda empty=empty: secrets.choice(empty))
    assert outcome(lambda: lanecrypt.choice({1, 2}))[0] == "TypeError"


def test_uuid4():
    one = lanecrypt.uuid4()
    assert type(one) is uuid.UUID
    assert one.version == 4 and one.variant == uuid.RFC_4122
    assert one.is_safe is uuid.SafeUUID.unknown
    assert uuid.UUID(str(one)) == one and uuid.UUID(bytes=one.bytes) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert len({lanecrypt.uuid4() for _ in range(10_000)}) == 10_000
    either, both = 0, (1 << 128) - 1
    for _ in range(1000):
        number = lanecrypt.uuid4().int
        either |= number
        both &= number
    fixed = ~(either ^ both) & ((1 << 128) - 1)
    assert fixed == 0xF << 76 | 3 << 62, "all other bits vary"


def test_fill():
    for size in (0, 1, 64, 65, 5000, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1_000_000):
        buffer = bytearray(size)
        assert lanecrypt.fill(buffer) is None
        words = {bytes(buffer[at : at + 4]) for at in range(0, size - 3, 4)}
        assert len(words) > 0.99 * (size // 4) - 1
    part = bytearray(100)
    lanecrypt.fill(memoryview(part)[40:60])
    assert part[:40] == bytes(40) and part[60:] == bytes(40) and part[40:60] != bytes(20)
    with pytest.raises(TypeError):
        lanecrypt.fill(bytes(10))
    with pytest.raises(TypeError):
        lanecrypt.fill(10)


def test_fill_of_large_arrays_reaches_every_piece():
    numpy = pytest.importorskip("numpy")
    array = numpy.zeros((3, 400_000), "u1")
    lanecrypt.fill(array)
    counts = numpy.bincount(array.reshape(-1), minlength=256)
    assert abs(counts - 1_200_000 / 256).max() < 500
    assert (array[:, -16:] != 0).any(axis=1).all()


def test_random_class():
    numbers = lanecrypt.Random()
    assert isinstance(numbers, random.Random)
    assert all(0 <= numbers.random() < 1 for _ in range(1000))
    assert 0.45 < sum(numbers.random() for _ in range(10_000)) / 10_000 < 0.55
    assert len(numbers.randbytes(10)) == 10
    assert {numbers.randint(1, 3) for _ in range(200)} == {1, 2, 3}
    assert {numbers.randrange(0, 10, 5) for _ in range(200)} == {0, 5}
    items = list(range(100))
    numbers.shuffle(items)
    assert items != list(range(100)) and sorted(items) == list(range(100))
    assert len(set(numbers.sample(range(1000), 100))) == 100
    assert -10 < numbers.gauss(0, 1) < 10
    numbers.seed(5)
    first = numbers.random()
    numbers.seed(5)
    assert numbers.random() != first, "seeds are ignored"
    assert lanecrypt.Random(1).getrandbits(64) != lanecrypt.Random(1).getrandbits(64)
    for call in (numbers.getstate, lambda: numbers.setstate(())):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(NotImplementedError):
        pickle.dumps(numbers)
    with pytest.raises(ValueError):
        numbers.getrandbits(-1)
    with pytest.raises(IndexError):
        numbers.choice([])
