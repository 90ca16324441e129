"""Threads: long messages run side by side, and what another thread changes meanwhile is no danger."""

import threading

import pyarrow as pa

import lanecrypt
from lanecrypt import columns


def test_one_cipher_in_many_threads():
    cipher = lanecrypt.AESGCM(bytes(32))
    messages = [bytes([i]) * (1000 if i % 2 else 100_000) for i in range(32)]
    right = [cipher.encrypt(i.to_bytes(12, "big"), m, b"") for i, m in enumerate(messages)]
    wrong = []

    def work():
        for i, message in enumerate(messages):
            nonce = i.to_bytes(12, "big")
            if cipher.encrypt(nonce, message, b"") != right[i]:
                wrong.append(i)
            if cipher.decrypt(nonce, right[i], b"") != message:
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_lock_is_released_for_long_messages_only(ticks_during):
    cipher, nonce = lanecrypt.AESGCM(bytes(16)), bytes(12)
    key, long = columns.Key(bytes(16)), bytes(1 << 24)
    short, column = bytes(1000), pa.array([long])
    packet, room = cipher.encrypt(nonce, long, None), bytearray(len(long) + 16)
    for call in (
        lambda: cipher.encrypt(nonce, long, None),
        lambda: cipher.encrypt(nonce, bytearray(long), None),
        lambda: cipher.decrypt(nonce, packet, None),
        lambda: cipher.encrypt(nonce, b"", long),
        lambda: cipher.encrypt_into(nonce, long, None, room),
        lambda: lanecrypt.token_bytes(len(long)),
        lambda: lanecrypt.fill(room),
        lambda: columns.encrypt(column, key),
    ):
        assert any(ticks_during(call) for _ in range(100))
    for call in (
        lambda: cipher.encrypt(nonce, short, None),
        lambda: cipher.encrypt_into(nonce, short, None, bytearray(1016)),
        lambda: lanecrypt.token_bytes(1000),
    ):
        assert not any(ticks_during(call) for _ in range(100))


def test_buffers_that_change_meanwhile():
    """A packet is always the encryption of something, whatever another thread writes."""
    cipher = lanecrypt.ChaCha20Poly1305(bytes(32))
    data, stop = bytearray(1 << 17), threading.Event()

    def write():
        while not stop.is_set():
            for at in range(0, len(data), 997):
                data[at] ^= 255

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for i in range(50):
            nonce = i.to_bytes(12, "big")
            packet = cipher.encrypt(nonce, data, data)
            assert len(packet) == len(data) + 16
            packet = cipher.encrypt(nonce, data, None)
            assert len(cipher.decrypt(nonce, packet, None)) == len(data)
    finally:
        stop.set()
        thread.join()
