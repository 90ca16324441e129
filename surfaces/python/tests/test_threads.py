"""Threads: long messages run side by side, and what another thread changes meanwhile is no danger."""

import threading

import lanecrypt


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


def test_the_lock_is_released_for_long_messages():
    """Another thread counts on, while this one is in a single call."""
    cipher = lanecrypt.AESGCM(bytes(16))
    data = bytes(1 << 27)
    count, ready, stop = 0, threading.Event(), threading.Event()

    def tick():
        nonlocal count
        ready.set()
        while not stop.is_set():
            count += 1

    thread = threading.Thread(target=tick)
    thread.start()
    ready.wait()
    before = count
    cipher.encrypt(bytes(12), data, None)
    during = count - before
    stop.set()
    thread.join()
    assert during > 0


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
