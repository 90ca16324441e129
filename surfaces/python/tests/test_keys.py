"""Keys appear nowhere; ciphers cannot be copied or stored."""

import copy
import gc
import pickle
import traceback

import pytest

import lanecrypt
from lanecrypt import columns

KEY = b"\xc3<a key that shows>\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3"


def ciphers():
    for name in ("AESGCM", "AESGCMSIV", "AESSIV", "ChaCha20Poly1305", "XChaCha20Poly1305"):
        yield getattr(lanecrypt, name)(KEY)
    yield columns.Key(KEY, "aes_gcm")


def test_nothing_shows_a_key():
    for cipher in ciphers():
        for text in (repr(cipher), str(cipher), f"{cipher}", repr(vars(type(cipher)))):
            assert "key that shows" not in text
        assert not hasattr(cipher, "__dict__")
        assert not [name for name in dir(cipher) if "key" in name and name != "generate_key"]
        assert not gc.get_referents(cipher) or gc.get_referents(cipher) == [type(cipher)]


def test_keys_of_columns_tell_lengths_only():
    with pytest.raises(ValueError, match="^aes_gcm: a key of 5 bytes where 16, 24 or 32 are needed$"):
        columns.Key(b"short", "aes_gcm")
    with pytest.raises(ValueError, match="unknown layout"):
        columns.Key(KEY, "rot13")


def test_errors_show_no_key():
    for arguments in ((KEY + b"!",), (KEY.decode("latin1"),), (KEY, KEY)):
        with pytest.raises((ValueError, TypeError)) as error:
            lanecrypt.AESGCM(*arguments)
        told = "".join(traceback.format_exception_only(error.value))
        assert "key that shows" not in told and "key that shows" not in repr(error.value.args)


def test_ciphers_are_not_copied_or_stored():
    for cipher in ciphers():
        for act in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot pickle"):
                act(cipher)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError):
                pickle.dumps(cipher, protocol)
        with pytest.raises(AttributeError):
            cipher.note = "no room for attributes"
        with pytest.raises(TypeError):
            type("Derived", (type(cipher),), {})
