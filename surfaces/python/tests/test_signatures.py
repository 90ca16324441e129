"""Signatures beside `cryptography`, both ways; many at once, each with a verdict of its own."""

import base64
import copy
import os
import pickle
import random
import threading

import pytest
from cryptography.exceptions import InvalidSignature as TheirInvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from test_same_as_cryptography import buffers

from lanecrypt import signatures
from lanecrypt.signatures import InvalidSignature, SigningKey, VerifyingKey, verify_many

RSA = rsa.generate_private_key(65537, 2048)
PRIVATE_FORMS = [
    (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8),
    (serialization.Encoding.DER, serialization.PrivateFormat.PKCS8),
    (serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL),
    (serialization.Encoding.DER, serialization.PrivateFormat.TraditionalOpenSSL),
]
SPKI = serialization.PublicFormat.SubjectPublicKeyInfo
ALGORITHMS = [
    "EdDSA", "Ed25519", "ES256", "ES256-DER", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512",
]


class Theirs:
    """The same by `cryptography`."""

    def __init__(self, algorithm):
        self.algorithm = algorithm
        if algorithm.startswith("Ed"):
            self.key = ed25519.Ed25519PrivateKey.generate()
        else:
            self.key = ec.generate_private_key(ec.SECP256R1()) if algorithm.startswith("ES") else RSA

    def arguments(self):
        if self.algorithm.startswith("Ed"):
            return ()
        if self.algorithm.startswith("ES"):
            return (ec.ECDSA(hashes.SHA256()),)
        hash = getattr(hashes, "SHA" + self.algorithm[2:])()
        pss = padding.PSS(padding.MGF1(hash), padding.PSS.DIGEST_LENGTH)
        return (pss if self.algorithm.startswith("PS") else padding.PKCS1v15(), hash)

    def sign(self, message):
        signature = self.key.sign(message, *self.arguments())
        if self.algorithm == "ES256":
            r, s = utils.decode_dss_signature(signature)
            signature = r.to_bytes(32, "big") + s.to_bytes(32, "big")
        return signature

    def verify(self, message, signature):
        if self.algorithm == "ES256":
            r, s = signature[:32], signature[32:]
            numbers = int.from_bytes(r, "big"), int.from_bytes(s, "big")
            signature = utils.encode_dss_signature(*numbers)
        self.key.public_key().verify(signature, message, *self.arguments())

    def private(self, encoding, form):
        if self.algorithm.startswith("Ed"):
            form = serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(encoding, form, serialization.NoEncryption())

    def public(self, encoding=serialization.Encoding.DER, form=SPKI):
        return self.key.public_key().public_bytes(encoding, form)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_signs_and_the_other_verifies(algorithm):
    draw = random.Random(algorithm)
    theirs = Theirs(algorithm)
    for form in PRIVATE_FORMS:
        pem = theirs.private(*form)
        own = SigningKey(buffers(draw, pem), algorithm)
        public = VerifyingKey(buffers(draw, theirs.public()), algorithm)
        assert own.algorithm == public.algorithm == algorithm
        assert own.verifying_key().to_der() == public.to_der() == theirs.public()
        for length in (0, 1, 100, 70_000):
            message = draw.randbytes(length)
            signature = own.sign(buffers(draw, message))
            theirs.verify(message, signature)
            public.verify(message, signature)
            right = theirs.sign(message)
            public.verify(buffers(draw, message), buffers(draw, right))
            own.verifying_key().verify(message, right)
            if algorithm[:2] in ("Ed", "RS"):
                assert signature == right
            changed = bytearray(right)
            changed[draw.randrange(len(right))] ^= 1 << draw.randrange(8)
            for message, signature in (
                (message, changed), (message, right[:-1]), (message, right + b"\0"), (message, b""),
                (message + b"x", right),
            ):
                with pytest.raises(InvalidSignature):
                    public.verify(message, signature)
                with pytest.raises((TheirInvalidSignature, ValueError)):
                    theirs.verify(message, bytes(signature))


def test_every_form_of_a_public_key():
    pem, der, raw = serialization.Encoding.PEM, serialization.Encoding.DER, serialization.Encoding.Raw
    point = serialization.Encoding.X962
    forms = {
        "EdDSA": [(pem, SPKI), (der, SPKI), (raw, serialization.PublicFormat.Raw)],
        "ES256": [
            (pem, SPKI), (der, SPKI), (point, serialization.PublicFormat.UncompressedPoint),
            (point, serialization.PublicFormat.CompressedPoint),
        ],
        "PS256": [
            (pem, SPKI), (der, SPKI), (pem, serialization.PublicFormat.PKCS1),
            (der, serialization.PublicFormat.PKCS1),
        ],
    }
    for algorithm, all_of_it in forms.items():
        theirs = Theirs(algorithm)
        signature = theirs.sign(b"message")
        for form in all_of_it:
            key = theirs.public(*form)
            VerifyingKey(key, algorithm).verify(b"message", signature)
            if form[0] == pem:
                VerifyingKey("\n" + key.decode(), algorithm).verify(b"message", signature)
            if form[0] != raw:
                for other in forms.keys() - {algorithm}:
                    with pytest.raises(ValueError):
                        VerifyingKey(key, other)
        # Nothing is a private key that is a public one, and the reverse.
        private = theirs.private(*PRIVATE_FORMS[0])
        with pytest.raises(ValueError, match="a private key, where a public one belongs"):
            VerifyingKey(private, algorithm)
        with pytest.raises(ValueError, match="a public key, where a private one belongs"):
            SigningKey(theirs.public(), algorithm)


def test_secrets_of_32_bytes():
    edwards, weierstrass = Theirs("EdDSA"), Theirs("ES256")
    seed = edwards.key.private_bytes_raw()
    number = weierstrass.key.private_numbers().private_value.to_bytes(32, "big")
    assert SigningKey(seed, "EdDSA").sign(b"message") == edwards.sign(b"message")
    weierstrass.verify(b"message", SigningKey(bytearray(number), "ES256").sign(b"message"))
    for wrong in (bytes(32), b"\xff" * 32):
        with pytest.raises(ValueError, match="out of range"):
            SigningKey(wrong, "ES256")
    with pytest.raises(ValueError, match="small order"):
        VerifyingKey(bytes(32), "EdDSA")


def test_refusals():
    theirs = Theirs("EdDSA")
    key = SigningKey(theirs.private(*PRIVATE_FORMS[0]).decode(), "EdDSA")
    public, signature = key.verifying_key(), key.sign(b"message")
    encrypted = theirs.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"passphrase"),
    )
    for kind in (SigningKey, VerifyingKey):
        for name in ("", "none", "HS256", "eddsa", "ES384"):
            with pytest.raises(ValueError, match="unknown algorithm .* there are EdDSA, Ed25519, ES256"):
                kind(bytes(32), name)
        for bad in (b"", b"-----", "", "no key", "\N{SNOWMAN}", bytes(31), os.urandom(33), b"\xff" * 500):
            for algorithm in ALGORITHMS:
                with pytest.raises(ValueError):
                    kind(bad, algorithm)
        for bad in (None, 5, object(), [1]):
            with pytest.raises(TypeError):
                kind(bad, "EdDSA")
        with pytest.raises(TypeError):
            kind(bytes(32))
    with pytest.raises(ValueError, match="encrypted key"):
        SigningKey(encrypted, "EdDSA")
    with pytest.raises(ValueError, match="another algorithm"):
        SigningKey(theirs.private(*PRIVATE_FORMS[1]), "RS256")
    for bad in (None, "text", 5, memoryview(bytearray(64))[::2]):
        for call in (
            lambda bad=bad: key.sign(bad),
            lambda bad=bad: public.verify(bad, signature),
            lambda bad=bad: public.verify(b"message", bad),
            lambda bad=bad: verify_many(public, [b"message", bad], [signature] * 2),
            lambda bad=bad: verify_many(public, [b"message"] * 2, [signature, bad]),
            lambda bad=bad: verify_many([public, bad], [b"message"] * 2, [signature] * 2),
        ):
            with pytest.raises((TypeError, BufferError)):
                call()
    for given in ((key, [], []), (None, [], []), (public, None, []), (public, b"message", b"message")):
        with pytest.raises(TypeError):
            verify_many(*given)
    for given in (
        (public, [b""], []), (public, [], [b""]), ([public], [], []), ([], [b""], [b""]),
        ([public, public], [b""], [b""]),
    ):
        with pytest.raises(ValueError, match="not as many of each"):
            verify_many(*given)


def test_keys_are_not_shown_pickled_or_copied():
    seed = os.urandom(32)
    key = SigningKey(seed, "EdDSA")
    assert repr(key) == "<lanecrypt.signatures.SigningKey EdDSA>"
    assert repr(key.verifying_key()) == "<lanecrypt.signatures.VerifyingKey EdDSA>"
    for act in (pickle.dumps, copy.copy, copy.deepcopy, vars):
        with pytest.raises(TypeError):
            act(key)
    with pytest.raises(TypeError):
        type("Own", (SigningKey,), {})


def test_many_of_all_algorithms_have_verdicts_of_their_own():
    draw = random.Random(7)
    theirs = [Theirs(algorithm) for algorithm in ALGORITHMS * 3]
    keys = [VerifyingKey(it.public(), it.algorithm) for it in theirs]
    rows, right = [], []
    for number in range(2500):
        which = draw.choice([draw.randrange(len(keys)), draw.randrange(4)])
        message = draw.randbytes(draw.randrange(200))
        # Of the slow ones only some are new.
        if not rows or which % len(ALGORITHMS) < 4 or draw.random() < 0.05:
            rows.append((which, message, theirs[which].sign(message)))
        else:
            rows.append(draw.choice(rows))
        right.append(True)
    for number in range(0, len(rows), 3):
        which, message, signature = rows[number]
        changed = bytearray(signature)
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        wrong = [
            (which, message, changed), (which, message + b"x", signature), (which, message, b""),
            (which, message, signature[1:]), (which, message, bytes(64)),
            ((which + 1) % len(keys), message, signature),
        ]
        rows[number] = draw.choice(wrong)
        right[number] = False
    indices, messages, given = zip(*rows)
    chosen = [keys[which] for which in indices]
    verdicts = verify_many(chosen, messages, given)
    assert verdicts == right and verdicts.count(False) > 700
    assert [is_right(*row) for row in zip(chosen, messages, given)] == right
    # Any iterables, any buffers; one by one, and none.
    some = slice(100, 160)
    again = verify_many(
        iter(chosen[some]), (buffers(draw, message) for message in messages[some]), list(given[some])
    )
    assert again == right[some]
    for number in range(100, 110):
        assert verify_many(chosen[number], [messages[number]], [given[number]]) == [right[number]]
    assert verify_many(keys[0], [], []) == [] == verify_many([], (), ())


def is_right(key, message, signature):
    try:
        key.verify(message, signature)
    except InvalidSignature:
        return False
    return True


def test_der_of_ecdsa():
    theirs = Theirs("ES256-DER")
    key = VerifyingKey(theirs.public(), "ES256-DER")
    fixed = VerifyingKey(theirs.public(), "ES256")
    signature = theirs.sign(b"message")
    r, s = utils.decode_dss_signature(signature)
    raw = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    assert is_right(key, b"message", signature) and is_right(fixed, b"message", raw)
    assert not is_right(key, b"message", raw) and not is_right(fixed, b"message", signature)
    # Other encodings of the same numbers.
    longer = b"\x30" + bytes([signature[1] + 1, 2, signature[3] + 1, 0]) + signature[4:]
    for other in (longer, signature + b"\0", b"\x30\x81" + signature[1:], signature[:-1], b"\x30\x00", b""):
        assert not is_right(key, b"message", other)
        assert verify_many(key, [b"message"] * 2, [other, signature]) == [False, True]
    n = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    for numbers in ((0, s), (r, 0), (n, s), (r, n), (r + n, s), (2**256, s), (2**600, s)):
        other = utils.encode_dss_signature(*numbers)
        assert verify_many(key, [b"message"] * 2, [other, signature]) == [False, True]
    with pytest.raises(ValueError):
        SigningKey(theirs.public(), "ES256-DER")


def test_the_lock_is_released(ticks_during):
    key = SigningKey(os.urandom(32), "ES256")
    public, messages = key.verifying_key(), [bytes([i]) for i in range(200)]
    given = [key.sign(message) for message in messages]
    assert any(ticks_during(lambda: verify_many(public, messages, given)) for _ in range(100))
    assert any(ticks_during(lambda: key.sign(b"message")) for _ in range(100))


def test_buffers_that_change_meanwhile():
    """A verdict is one of the message or of another one; nothing else happens."""
    key = SigningKey(os.urandom(32), "EdDSA")
    message = bytearray(1 << 12)
    signature, stop = key.sign(message), threading.Event()

    def write():
        while not stop.is_set():
            for at in range(0, len(message), 97):
                message[at] ^= 255

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(20):
            verdicts = verify_many(key.verifying_key(), [message] * 50, [signature] * 50)
            assert len(verdicts) == 50 and set(verdicts) <= {True, False}
    finally:
        stop.set()
        thread.join()


def test_names():
    assert signatures.InvalidSignature.__mro__[1:] == TheirInvalidSignature.__mro__[1:]
    assert signatures.InvalidSignature.__name__ == TheirInvalidSignature.__name__


@pytest.mark.parametrize("algorithm", ["EdDSA", "ES256", "RS256"])
def test_damaged_keys_are_keys_or_refused(algorithm):
    draw, theirs = random.Random(algorithm), Theirs(algorithm)
    private = [theirs.private(*form) for form in PRIVATE_FORMS]
    public = [theirs.public(), theirs.public(serialization.Encoding.PEM)]
    refused = 0
    for kind, forms in ((SigningKey, private), (VerifyingKey, public)):
        for number in range(60 if algorithm == "RS256" else 600):
            damaged = bytearray(forms[number % len(forms)])
            at = draw.randrange(len(damaged))
            match draw.randrange(4):
                case 0:
                    damaged[at] ^= 1 << draw.randrange(8)
                case 1:
                    damaged[at] = draw.randrange(256)
                case 2:
                    del damaged[at:]
                case _:
                    damaged[at:at] = draw.randbytes(draw.randrange(1, 40))
            try:
                key = kind(damaged, algorithm)
            except ValueError as error:
                refused += 1
                assert str(error) and theirs.public().hex() not in str(error)
            else:
                assert key.algorithm == algorithm
    assert refused > 60


# RFC 7515, appendix A.3, and RFC 8037, appendix A: the token, the public key and the private one.
TOKENS = {
    "ES256": (
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19y"
        "b290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
        ["f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"],
        "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    ),
    "EdDSA": (
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6d"
        "WbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
        ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
        "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    ),
}


def test_published_tokens():
    keys, messages, given = [], [], []
    for algorithm, (token, public, private) in TOKENS.items():
        message, signature = token.rsplit(".", 1)
        signature, *bare, secret = (
            base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
            for part in (signature, *public, private)
        )
        message = message.encode()
        key = VerifyingKey(b"\4" * (len(bare) - 1) + b"".join(bare), algorithm)
        key.verify(message, signature)
        own = SigningKey(secret, algorithm)
        assert own.verifying_key().to_der() == key.to_der()
        assert (own.sign(message) == signature) == (algorithm == "EdDSA")
        keys += [key, key]
        messages += [message, message.swapcase()]
        given += [signature, signature]
    assert verify_many(keys, messages, given) == [True, False, True, False]
