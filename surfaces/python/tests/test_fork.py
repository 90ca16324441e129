"""No value comes twice: not in a forked child, not in its siblings, not in threads."""

import multiprocessing
import os
import random
import threading

import pyarrow

import lanecrypt
from lanecrypt import columns, signatures

DRAWS = 200
# Made before any fork.
COLUMN_KEY = columns.Key(bytes(16), "aes_gcm")
SIGNER = signatures.SigningKey(bytes(31) + b"\1", "ES256")
EMPTY = pyarrow.array([b""] * DRAWS)


def draw():
    """Values of every kind, each of at least 64 bits."""
    values = []
    numbers = lanecrypt.Random()
    for _ in range(DRAWS):
        buffer = bytearray(16)
        lanecrypt.fill(buffer)
        values += [
            lanecrypt.token_bytes(16).hex(),
            lanecrypt.token_hex(16),
            str(lanecrypt.uuid4()),
            str(lanecrypt.randbits(96)),
            str(lanecrypt.randbits(64)),
            str(lanecrypt.randbelow(2**63)),
            buffer.hex(),
            str(numbers.getrandbits(80)),
            lanecrypt.AESGCM.generate_key(128).hex(),
            # Of its nonce.
            SIGNER.sign(b"message")[:32].hex(),
        ]
    # The nonces of a column.
    values += [cell[:12].hex() for cell in columns.encrypt(EMPTY, COLUMN_KEY).to_pylist()]
    return values


def child(pipe):
    with os.fdopen(pipe, "w") as out:
        out.write("\n".join(draw()))


def test_os_fork_in_the_middle():
    values = draw()
    pipes = []
    for _ in range(5):
        reader, writer = os.pipe()
        # So that the buffer of the generator is at another place each time.
        values += [lanecrypt.token_bytes(9 + len(pipes)).hex()]
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.close(reader)
                child(writer)
                status = 0
            finally:
                os._exit(status)
        os.close(writer)
        pipes.append((pid, reader))
        values += draw()
    for pid, reader in pipes:
        with os.fdopen(reader) as source:
            values += source.read().split("\n")
        assert os.waitpid(pid, 0)[1] == 0
    assert len(values) == 11 * 11 * DRAWS + 5
    assert len(set(values)) == len(values)


def in_a_process(queue):
    queue.put(draw())


def test_multiprocessing_fork():
    context = multiprocessing.get_context("fork")
    values = draw()
    queue = context.Queue()
    processes = [context.Process(target=in_a_process, args=(queue,)) for _ in range(4)]
    for process in processes:
        process.start()
    values += draw()
    for _ in processes:
        values += queue.get(timeout=60)
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(values) == 6 * 11 * DRAWS
    assert len(set(values)) == len(values)


def test_pool_in_threads_that_drew_before():
    values, lock = [], threading.Lock()

    def work():
        mine = draw()
        with multiprocessing.get_context("fork").Pool(1) as pool:
            theirs = pool.apply(draw)
        mine += draw()
        with lock:
            values.extend(mine + theirs)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(values) == 9 * 11 * DRAWS
    assert len(set(values)) == len(values)


def test_a_generator_that_repeats_would_be_seen():
    """The same check finds the standard module's generator, which a fork copies."""
    numbers = random.Random()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, str(numbers.getrandbits(96)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as source:
        values = [str(numbers.getrandbits(96)), source.read()]
    os.waitpid(pid, 0)
    assert len(set(values)) < len(values)
