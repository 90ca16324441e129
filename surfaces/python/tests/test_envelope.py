"""Wrapped rings: services over real HTTP with their errors, changed documents, the limits of the cache,
forks and threads; no key in errors, in what can be read, or in a pickle."""

import base64
import copy
import json
import os
import pickle
import threading
import time
import traceback

import fake_services
import pyarrow as pa
import pytest

import lanecrypt
from lanecrypt import columns, envelope
from lanecrypt.envelope import Cached, Kms, Local, Vault, Wrapped, WrapError
from lanecrypt.keys import KeyNotFound

KEY = bytes.fromhex("c0ffee") + bytes(range(100, 129))
OTHER = bytes(reversed(KEY))


@pytest.fixture(scope="module")
def vault():
    made = fake_services.Vault()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def kms():
    made = fake_services.Kms()
    made.keys = {"alias/people": os.urandom(32), "alias/other": os.urandom(32)}
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def no_faults(vault, kms):
    yield
    vault.fault = kms.fault = None


@pytest.fixture
def keks(vault, kms):
    return {
        "local": Local(KEY),
        "vault": Vault(vault.post(), "people"),
        "derived": Vault(vault.post(), "derived-people", context="people"),
        "kms": Kms(kms.client(), "alias/people", context={"table": "people"}),
        "cached": Cached(Vault(vault.post(), "people")),
    }


def ring_of_all_states(layout="aes_gcm"):
    ring = columns.Keyring(layout)
    for _ in range(2):
        ring.add()
    ring.disable(ring.add())
    return ring


def secrets_of(ring):
    return [key["key"] for key in json.loads(ring.to_json())["keys"]]


def said(error):
    """All that is shown of an exception, and of those that it keeps."""
    assert error.__cause__ is None and error.__context__ is None
    return "".join(traceback.format_exception(error)) + repr(error) + repr(error.args) + repr(vars(error))


def has_key(text, key):
    forms = [key.hex(), base64.b64encode(key).decode(), repr(key)[2:-1]]
    return any(form.lower() in text.lower() for form in forms)


class Recording:
    """A key-encryption key that remembers what it was given."""

    def __init__(self, kek, fail=None):
        self.kek, self.keys, self.unwrapped, self.fail = kek, [], 0, fail

    def wrap(self, key):
        self.keys.append(key)
        return self.kek.wrap(key)

    def unwrap(self, wrapped):
        self.unwrapped += 1
        if self.fail:
            raise self.fail
        return self.kek.unwrap(wrapped)


@pytest.mark.parametrize("name", ["local", "vault", "derived", "kms", "cached"])
@pytest.mark.parametrize("layout", columns.LAYOUTS)
def test_there_and_back(keks, name, layout):
    ring = ring_of_all_states(layout)
    kek = Recording(keks[name])
    cells = columns.encrypt(pa.array(["a", None]), ring)
    text = envelope.wrap_ring(ring, kek)
    back = envelope.unwrap_ring(text, kek)
    assert (len(kek.keys), kek.unwrapped) == (1, 1), "one call, however many keys"
    assert back.to_json() == ring.to_json()
    assert columns.decrypt(cells, back, text=True).to_pylist() == ["a", None]
    # What can be read, and what cannot.
    document = json.loads(text)
    assert [(key["id"], key["state"]) for key in document["keys"]] == ring.keys
    assert document["layout"] == layout and document["keys"][0].keys() == {"id", "state"}
    whole = text + repr(base64.b64decode(document["ring"])) + base64.b64decode(document["ring"]).hex()
    for secret in [*secrets_of(ring), kek.keys[0].hex(), KEY.hex()]:
        assert not has_key(whole, bytes.fromhex(secret))
    again = json.loads(envelope.wrap_ring(ring, kek))
    assert again["ring"] != document["ring"] and kek.keys[0] != kek.keys[1], "a new key each time"


def test_a_ring_of_many_keys_fits(keks):
    ring = columns.Keyring("deterministic")
    for _ in range(300):
        ring.add()
    assert len(ring.to_json()) > 8 * 4096
    back = envelope.unwrap_ring(envelope.wrap_ring(ring, keks["kms"]), keks["kms"])
    assert back.to_json() == ring.to_json()


def test_every_change_is_refused():
    kek = Local(KEY)
    ring = ring_of_all_states()
    text = envelope.wrap_ring(ring, kek)
    document = json.loads(text)
    other = json.loads(envelope.wrap_ring(ring_of_all_states(), kek))

    def changed(**values):
        return json.dumps({**document, **values})

    def flipped(field, at):
        content = bytearray(base64.b64decode(document[field]))
        content[at] ^= 1
        return changed(**{field: base64.b64encode(content).decode()})

    keys = document["keys"]
    refused = [flipped("ring", at) for at in (0, 11, 12, 40, -1)]
    refused += [flipped("wrapped_key", at) for at in (0, 12, -1)]
    refused += [
        changed(layout="aes_gcm_siv"), changed(keys=keys[:-1]), changed(keys=keys[::-1]), changed(more=1),
        changed(keys=[{**keys[0], "id": 5}, *keys[1:]]),
        changed(keys=[*keys[:-1], {**keys[-1], "state": "active"}]),
        changed(ring=other["ring"]), changed(wrapped_key=other["wrapped_key"]), changed(ring=""),
        changed(keys=other["keys"]), changed(wrapped_key=""),
        json.dumps({name: value for name, value in document.items() if name != "layout"}),
    ]
    for wrong in refused:
        with pytest.raises(lanecrypt.InvalidTag) as error:
            envelope.unwrap_ring(wrong, kek)
        assert not any(has_key(said(error.value), bytes.fromhex(secret)) for secret in secrets_of(ring))
    for wrong in (
        "", "{}", "[]", "5", "null", text[:-1], "[" * 100_000, ring.to_json(),
        changed(format="other"), changed(format="lanecrypt wrapped ring 1x"),
        changed(ring=5), changed(ring="=="), changed(ring="%%%%"), changed(ring=None), changed(wrapped_key=[1]),
    ):
        with pytest.raises(ValueError, match="^not what wrap_ring writes, 'lanecrypt wrapped ring 1'") as error:
            envelope.unwrap_ring(wrong, kek)
        assert not any(has_key(said(error.value), bytes.fromhex(secret)) for secret in secrets_of(ring))
    # The order and the form of the JSON do not matter.
    same = json.dumps(dict(reversed(document.items())), indent=1)
    assert envelope.unwrap_ring(same, kek).to_json() == ring.to_json()


def test_keks_that_do_nothing_or_give_anything():
    class Kek:
        def __init__(self, wrap, unwrap=None):
            self.wrap, self.unwrap = wrap, unwrap

    ring = columns.Keyring()
    with pytest.raises(WrapError, match="left the key as it is"):
        envelope.wrap_ring(ring, Kek(lambda key: b"x" + key))
    for value in ("text", None, 5):
        with pytest.raises(WrapError, match=f"gave {type(value).__name__}, not bytes"):
            envelope.wrap_ring(ring, Kek(lambda key: value))
    text = envelope.wrap_ring(ring, Local(KEY))
    for unwrap, error in (
        (lambda wrapped: KEY, lanecrypt.InvalidTag), (lambda wrapped: KEY[1:], WrapError),
        (lambda wrapped: b"", WrapError), (lambda wrapped: KEY.hex(), WrapError),
    ):
        with pytest.raises(error) as raised:
            envelope.unwrap_ring(text, Kek(None, unwrap))
        assert not has_key(said(raised.value), KEY)


def test_local():
    wrapped = Local(KEY).wrap(b"key")
    assert len(wrapped) == 12 + 3 + 16 and Local(bytearray(KEY)).unwrap(wrapped) == b"key"
    assert Local(OTHER, KEY).unwrap(wrapped) == b"key"
    assert Local(KEY[:16]).unwrap(Local(KEY[:16]).wrap(b"")) == b""
    for wrong in (b"", wrapped[:11], wrapped[:-1], b"x" + wrapped, wrapped[:-1] + b"\0\1", b"vault:v1:"):
        with pytest.raises(lanecrypt.InvalidTag, match="^wrapped with another key, or changed$"):
            Local(KEY).unwrap(wrong)
    for key in (KEY[1:], b"", KEY.hex()):
        with pytest.raises((ValueError, TypeError)) as error:
            Local(key)
        assert not has_key(said(error.value), KEY[1:])


def test_nothing_is_pickled_copied_or_shown(keks):
    for kek in keks.values():
        kek.unwrap(kek.wrap(KEY))
        for act in (pickle.dumps, copy.copy, copy.deepcopy, lambda kek: pickle.dumps({"kek": [kek]}, 2)):
            with pytest.raises(TypeError, match="pass a function that makes it where it is used"):
                act(kek)
        assert not has_key(repr(kek) + str(kek), KEY) and fake_services.TOKEN not in repr(kek)


# What goes wrong at Vault: the fault, what differs in the client, and what the error says.
VAULT = [
    (None, {"token": "wrong"}, "HTTPError: HTTP Error 403: Forbidden"),
    ("slow", {"timeout": 0.1}, "(TimeoutError|URLError).*timed out"),
    ("truncated", {}, "IncompleteRead"), ("html", {}, "JSONDecodeError"), ({}, {}, "no right data"),
    ({"data": None}, {}, "no right data"), ({"data": {"plaintext": 5, "ciphertext": 5}}, {}, "no right data"),
    ({"data": {"plaintext": "%", "ciphertext": "v1"}}, {}, "no right data"),
    ({"data": {"plaintext": "", "ciphertext": ""}}, {}, "no right data"),
]


@pytest.mark.parametrize(("fault", "client", "message"), VAULT)
def test_errors_of_vault(vault, fault, client, message):
    wrapped = Vault(vault.post(), "people").wrap(KEY)
    assert wrapped.startswith(b"vault:v1:")
    kek = Vault(vault.post(**client), "people")
    vault.fault = fault
    for act, given in ((kek.wrap, KEY), (kek.unwrap, wrapped)):
        named = f"^<lanecrypt.envelope.Vault key 'people'>: (en|de)crypt: .*{message}"
        with pytest.raises(WrapError, match=named) as error:
            act(given)
        assert not has_key(said(error.value), KEY) and fake_services.TOKEN not in said(error.value)


def test_what_vault_refuses(vault):
    post = vault.post()
    wrapped = Vault(post, "people").wrap(KEY)
    Vault(post, "other").wrap(KEY)
    derived = Vault(post, "derived", context=b"\0\1").wrap(KEY)
    assert Vault(post, "derived", context=b"\0\1").unwrap(derived) == KEY
    changed = wrapped[:-5] + bytes([wrapped[-5] ^ 1]) + wrapped[-4:]
    for kek, given, message in (
        (Vault(post, "people"), changed, "400"), (Vault(post, "other"), wrapped, "400"),
        (Vault(post, "none"), wrapped, "400"),
        (Vault(post, "people", mount="other"), wrapped, "404: Not Found"),
        (Vault(post, "derived"), derived, "400"), (Vault(post, "derived", context="x"), derived, "400"),
        (Vault(post, "people"), b"", "was not wrapped by Vault"),
        (Vault(post, "people"), b"vault:\xff", "was not wrapped by Vault"),
        (Vault(post, "people"), Local(KEY).wrap(KEY), "was not wrapped by Vault"),
    ):
        with pytest.raises(WrapError, match=message):
            kek.unwrap(given)
    for name in ("", "a/b", "..", "a b", "a?b", "ä", "a\n"):
        with pytest.raises(ValueError, match="is not the name"):
            Vault(post, name)
        if "/" not in name:
            with pytest.raises(ValueError, match="is not the name"):
                Vault(post, "people", mount=f"x/{name}")


KMS = [
    ("slow", {"timeout": 0.1}, "(TimeoutError|URLError).*timed out"), ("truncated", {}, "IncompleteRead"),
    ("html", {}, "JSONDecodeError"), ({}, {}, "the answer has no right"),
    ({"Plaintext": "", "CiphertextBlob": ""}, {}, "no right"), ({"KeyId": "x"}, {}, "no right"),
]


@pytest.mark.parametrize(("fault", "client", "message"), KMS)
def test_errors_of_kms(kms, fault, client, message):
    wrapped = Kms(kms.client(), "alias/people").wrap(KEY)
    kek = Kms(kms.client(**client), "alias/people")
    kms.fault = fault
    for act, given in ((kek.wrap, KEY), (kek.unwrap, wrapped)):
        named = f"^<lanecrypt.envelope.Kms key 'alias/people'>: (en|de)crypt: .*{message}"
        with pytest.raises(WrapError, match=named) as error:
            act(given)
        assert not has_key(said(error.value), KEY)


def test_what_kms_refuses(kms):
    client = kms.client()
    wrapped = Kms(client, "alias/people", context={"a": "b"}).wrap(KEY)
    changed = wrapped[:-1] + bytes([wrapped[-1] ^ 1])
    right = {"context": {"a": "b"}}
    for name, options, given, message in (
        ("alias/people", right, changed, "InvalidCiphertextException"),
        ("alias/other", right, wrapped, "IncorrectKeyException"),
        ("alias/people", {}, wrapped, "InvalidCiphertextException"),
        ("alias/people", right, b"x", "InvalidCiphertextException"),
        ("alias/none", right, wrapped, "NotFoundException"), ("alias/denied", right, wrapped, "AccessDenied"),
    ):
        with pytest.raises(WrapError, match=message):
            Kms(client, name, **options).unwrap(given)
    with pytest.raises(WrapError, match="ValidationException"):
        Kms(client, "alias/people").wrap(bytes(4097))


def test_clients_whose_errors_have_the_key():
    text = base64.b64encode(KEY).decode()
    for form in (KEY.hex(), KEY.hex(":").upper(), text, text.replace("/", "\\/"), repr(KEY)):

        def post(path, body):
            error = ValueError(f"cannot send {form}")
            error.request = body
            raise error

        with pytest.raises(WrapError, match="ValueError: its text may have the key in it") as error:
            Vault(post, "people").wrap(KEY)
        assert not has_key(said(error.value), KEY)

    def post(path, body):
        raise ValueError(f"strange: {{'plaintext': '{base64.b64encode(KEY).decode()}'}}")

    with pytest.raises(WrapError) as error:
        Vault(post, "people").unwrap(b"vault:v1:x")
    assert not has_key(said(error.value), KEY)

    def interrupted(path, body):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Vault(interrupted, "people").wrap(KEY)


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


class TestCached:
    def made(self, **options):
        inner, clock = Recording(Local(KEY)), Clock()
        return Cached(inner, clock=clock, **options), inner, clock

    def test_time(self):
        kek, inner, clock = self.made(seconds=10, uses=1000)
        wrapped = kek.wrap(b"one")
        for step, calls in ((0, 1), (9.9, 1), (0.1, 2), (9.9, 2), (100, 3)):
            clock.now += step
            assert kek.unwrap(wrapped) == b"one" and inner.unwrapped == calls
        # Those that are too old go with any call, whatever key it is for.
        clock.now += 10
        kek.unwrap(kek.wrap(b"two"))
        assert kek.kept == 1

    def test_time_begins_before_the_call(self):
        kek, inner, clock = self.made(seconds=10)
        wrapped = kek.wrap(b"one")

        def slow(wrapped, unwrap=inner.unwrap):
            clock.now += 11
            return unwrap(wrapped)

        inner.unwrap = slow
        assert kek.unwrap(wrapped) == b"one" and kek.kept == 0

    @pytest.mark.parametrize("uses", [1, 2, 3, 7])
    def test_uses(self, uses):
        kek, inner, _ = self.made(uses=uses)
        wrapped = kek.wrap(b"one")
        for use in range(5 * uses):
            assert kek.unwrap(wrapped) == b"one"
            assert inner.unwrapped == use // uses + 1
            assert kek.kept == (0 if (use + 1) % uses == 0 else 1)

    def test_entries(self):
        kek, inner, _ = self.made(entries=3)
        wrapped = [kek.wrap(bytes([n])) for n in range(5)]
        for n in (0, 1, 2, 0, 3):
            assert kek.unwrap(wrapped[n]) == bytes([n]) and kek.kept <= 3
        # 1 was not used for longest.
        calls = inner.unwrapped
        for n, more in ((0, 0), (2, 0), (3, 0), (1, 1), (0, 2)):
            kek.unwrap(wrapped[n])
            assert inner.unwrapped == calls + more and kek.kept == 3
        kek.clear()
        assert kek.kept == 0

    def test_errors_are_not_remembered(self):
        kek, inner, _ = self.made()
        wrapped = kek.wrap(b"one")
        for fail in (WrapError("down"), TimeoutError(), KeyboardInterrupt()):
            inner.fail = fail
            for _ in range(2):
                with pytest.raises(type(fail)):
                    kek.unwrap(wrapped)
            assert kek.kept == 0
        inner.fail = None
        assert kek.unwrap(wrapped) == b"one"
        inner.fail = WrapError("down")
        assert kek.unwrap(wrapped) == b"one"
        with pytest.raises(WrapError):
            kek.unwrap(wrapped + b"x")
        inner.fail, inner.kek = None, type("Odd", (), {"unwrap": lambda self, wrapped: "text"})()
        with pytest.raises(WrapError, match="gave str, not bytes"):
            kek.unwrap(b"odd")
        assert kek.kept == 1

    def test_limits_are_positive(self):
        for wrong in ({"seconds": 0}, {"uses": 0}, {"entries": 0}, {"seconds": -1}, {"seconds": float("nan")}):
            with pytest.raises(ValueError):
                Cached(Local(KEY), **wrong)

    def test_threads(self):
        uses, entries, rounds = 50, 4, 300
        kek, inner, clock = self.made(uses=uses, entries=entries)
        wrapped = [kek.wrap(bytes([n])) for n in range(8)]
        given, wrong, lock = [0] * 8, [], threading.Lock()
        fetched = [0] * 8

        def count(wrapped_one, unwrap=inner.unwrap):
            with lock:
                fetched[wrapped.index(wrapped_one)] += 1
            return unwrap(wrapped_one)

        inner.unwrap = count

        def work(first):
            for step in range(rounds):
                n = (first + step // 40) % 8
                key = kek.unwrap(wrapped[n])
                size = kek.kept
                with lock:
                    given[n] += 1
                    if key != bytes([n]) or size > entries:
                        wrong.append((n, key, size))

        threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == [] and sum(given) == 8 * rounds
        for n in range(8):
            assert given[n] <= fetched[n] * uses, "more uses than keys were unwrapped for"
        assert sum(fetched) < sum(given) / 2

    def test_threads_do_not_wait_for_other_keys(self):
        kek, inner, _ = self.made()
        slow, quick = kek.wrap(b"slow"), kek.wrap(b"quick")
        asked, go = threading.Event(), threading.Event()

        def unwrap(wrapped, unwrap=inner.unwrap):
            if wrapped == slow:
                asked.set()
                assert go.wait(60)
            return unwrap(wrapped)

        inner.unwrap = unwrap
        thread = threading.Thread(target=kek.unwrap, args=(slow,))
        thread.start()
        assert asked.wait(60)
        assert kek.unwrap(quick) == b"quick"
        go.set()
        thread.join()
        assert kek.kept == 2

    def test_forks_while_a_thread_has_the_lock(self):
        kek, inner, _ = self.made(uses=10)
        wrapped = kek.wrap(b"one")
        kek.unwrap(wrapped)
        with kek._state.lock:
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    before = (kek.kept, inner.unwrapped)
                    key, again = kek.unwrap(wrapped), kek.unwrap(wrapped)
                    right = before == (0, 1) and key == again == b"one"
                    status = 0 if right and (kek.kept, inner.unwrapped) == (1, 2) else 2
                finally:
                    os._exit(status)
            deadline = time.monotonic() + 60
            while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0:
                if time.monotonic() > deadline:
                    os.kill(pid, 9)
                    os.waitpid(pid, 0)
                    raise AssertionError("the child waits for a lock that nobody has")
                time.sleep(0.01)
        assert ended[1] == 0
        assert (kek.kept, inner.unwrapped) == (1, 1)


CALLS = []


def make_kek():
    CALLS.append(os.getpid())
    return Local(KEY)


class TestWrapped:
    def test_provider(self):
        ring = columns.Keyring("aes_gcm")
        keys = Wrapped({"people": envelope.wrap_ring(ring, Local(KEY))}, make_kek, seconds=60)
        CALLS.clear()
        assert keys("people").to_json() == ring.to_json() and keys("people").keys == ring.keys
        assert len(CALLS) == 1
        with pytest.raises(KeyNotFound, match=r"key 'other': no such wrapped ring; there are \['people'\]"):
            keys("other")
        travelled = pickle.dumps(keys)
        for key in (KEY, bytes.fromhex(secrets_of(ring)[0])):
            assert not has_key(repr(travelled) + travelled.hex(), key)
        assert pickle.loads(travelled)("people").to_json() == ring.to_json()
        assert len(CALLS) == 1, "one key-encryption key in a process"
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                status = 0 if keys("people").keys == ring.keys and len(CALLS) == 2 else 2
            finally:
                os._exit(status)
        assert os.waitpid(pid, 0)[1] == 0

    def test_many_providers_keep_few_keys(self):
        text = envelope.wrap_ring(columns.Keyring(), Local(KEY))
        for _ in range(50):
            Wrapped({"a": text}, make_kek)("a")
        assert len(envelope._KEKS) <= 16

    def test_keys_in_place_of_wrapped_ones_are_refused(self):
        ring = columns.Keyring()
        text = envelope.wrap_ring(ring, Local(KEY))
        for rings, kek, error in (
            ({"a": ring}, make_kek, TypeError), ({"a": KEY}, make_kek, TypeError), (text, make_kek, TypeError),
            ({"a": ring.to_json()}, make_kek, ValueError), ({"a": text}, Local(KEY), TypeError),
            ({"a": text}, Cached(Local(KEY)), TypeError), ({"a": text}, KEY, TypeError),
            ({"a": text}, Recording(Local(KEY)), TypeError),
        ):
            with pytest.raises(error) as raised:
                Wrapped(rings, kek)
            shown = said(raised.value)
            assert not has_key(shown, KEY) and not has_key(shown, bytes.fromhex(secrets_of(ring)[0]))
        with pytest.raises(ValueError):
            Wrapped({"a": text}, make_kek, uses=0)

    def test_errors_of_the_service_are_not_remembered(self, vault):
        ring = columns.Keyring()
        text = envelope.wrap_ring(ring, Vault(vault.post(), "people"))
        keys = Wrapped({"a": text}, lambda: Vault(vault.post(), "people"))
        vault.fault = "html"
        for _ in range(2):
            with pytest.raises(WrapError):
                keys("a")
        vault.fault = None
        calls = len(vault.calls)
        assert keys("a").keys == keys("a").keys == ring.keys
        assert len(vault.calls) == calls + 1
