"""What several tests need."""

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
