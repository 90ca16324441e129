"""What several tests need."""

import sys
import threading
import time

import pytest
from cryptography.hazmat.primitives.ciphers import aead as theirs

import lanecrypt as ours

# Classes that both have: their name, a key, and the length of nonces that everyone takes.
CLASSES = [
    ("AESGCM", 16, 12), ("AESGCM", 24, 12), ("AESGCM", 32, 12), ("AESGCMSIV", 16, 12),
    ("AESGCMSIV", 32, 12), ("ChaCha20Poly1305", 32, 12),
]


@pytest.fixture(params=CLASSES, ids=lambda row: f"{row[0]}-{8 * row[1]}")
def pair(request):
    """The two classes of one name, the length of a key and that of a nonce."""
    name, key, nonce = request.param
    return getattr(ours, name), getattr(theirs, name), key, nonce


@pytest.fixture
def ticks_during():
    """How often another thread took the interpreter's lock while a call ran."""
    interval = sys.getswitchinterval()
    # From here on nobody takes the lock from a thread that does not give it.
    sys.setswitchinterval(1000)
    stop, count = False, 0

    def tick():
        nonlocal count
        while not stop:
            count += 1
            time.sleep(0)

    def ticks(call):
        before = count
        call()
        return count - before

    thread = threading.Thread(target=tick)
    thread.start()
    yield ticks
    stop = True
    thread.join()
    sys.setswitchinterval(interval)
