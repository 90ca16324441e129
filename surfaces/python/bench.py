"""Nanoseconds of a call, beside other packages, in one process.

    python bench.py                      a table
    python bench.py --json FILE          and all results, as `lanecrypt speed --json` writes them
    python bench.py --only 'token_bytes' rows whose name contains this
    python bench.py --budget 20          seconds for all rows together

All rows of a group take turns in an order that changes each time. A turn is as many calls as take two
milliseconds. A figure is the median of the turns, less that of an empty loop. Pin the process to a
processor (`taskset -c 1 python bench.py`), and leave the machine alone meanwhile.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import random
import secrets
import statistics
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import cryptography
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.ciphers import aead

import lanecrypt
from lanecrypt.signatures import VerifyingKey, verify_many

TURN = 2e6  # nanoseconds


@dataclass
class Row:
    """One call of one package."""

    source: str
    api: str
    subject: str
    op: str
    size: int
    function: Callable[..., object]
    arguments: tuple[object, ...] = ()
    right: object = None
    loops: int = 1
    turns: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.subject}/{self.op}/{self.size}"

    def is_right(self) -> bool:
        """Whether it gives the right result, or, if there is no such, another one each time."""
        one, two = self.function(*self.arguments), self.function(*self.arguments)
        return one != two if self.right is None else one == two == self.right

    def turn(self) -> float:
        """Nanoseconds of a call, in so many calls as a turn has."""
        function, numbers = self.function, range(self.loops)
        # Written out, so that nothing stands between the loop and the call.
        match self.arguments:
            case ():
                start = time.perf_counter_ns()
                for _ in numbers:
                    function()
            case (a,):
                start = time.perf_counter_ns()
                for _ in numbers:
                    function(a)
            case (a, b, c):
                start = time.perf_counter_ns()
                for _ in numbers:
                    function(a, b, c)
            case _:
                raise ValueError("no loop for so many arguments")
        return (time.perf_counter_ns() - start) / self.loops


def empty_loop(loops: int = 100_000) -> float:
    start = time.perf_counter_ns()
    for _ in range(loops):
        pass
    return (time.perf_counter_ns() - start) / loops


def ciphers() -> Iterator[list[Row]]:
    for subject, bits in (("AESGCM", 128), ("AESGCM", 256), ("ChaCha20Poly1305", 256)):
        key, nonce, aad = os.urandom(bits // 8), os.urandom(12), b"header"
        for size in (16, 64, 1024):
            data = os.urandom(size)
            packet = getattr(aead, subject)(key).encrypt(nonce, data, aad)
            for op, given, right in (("encrypt", data, packet), ("decrypt", packet, data)):
                rows = []
                for source, module in (("lanecrypt", lanecrypt), ("cryptography", aead)):
                    api = f"{module.__name__}.{subject}.{op}"
                    function = getattr(getattr(module, subject)(key), op)
                    arguments = (nonce, given, aad)
                    name = f"{subject}-{bits}"
                    rows.append(Row(source, api, name, op, size, function, arguments, right))
                yield rows


def numbers() -> Iterator[list[Row]]:
    def row(source: str, function: Callable[..., object], op: str, size: int, *given: object) -> Row:
        module = getattr(function, "__module__", None) or "random"
        api = f"{module.replace('posix', 'os')}.{function.__qualname__}"
        return Row(source, api, "random", op, size, function, given)

    for size in (16, 32, 1024):
        yield [
            row("lanecrypt", lanecrypt.token_bytes, "token_bytes", size, size),
            row("python", secrets.token_bytes, "token_bytes", size, size),
            row("python", os.urandom, "token_bytes", size, size),
        ]
    for op, size, own, their, given in (
        ("uuid4", 16, lanecrypt.uuid4, uuid.uuid4, ()),
        ("token_hex", 16, lanecrypt.token_hex, secrets.token_hex, (16,)),
        ("token_urlsafe", 16, lanecrypt.token_urlsafe, secrets.token_urlsafe, (16,)),
        ("randbelow", 8, lanecrypt.randbelow, secrets.randbelow, (10**12,)),
        ("random", 8, lanecrypt.Random().random, random.SystemRandom().random, ()),
    ):
        yield [row("lanecrypt", own, op, size, *given), row("python", their, op, size, *given)]


def signatures(count: int = 100) -> Iterator[list[Row]]:
    """Each is a loop over so many messages."""

    def each(
        verify: Callable[..., None], given: tuple[object, ...], pairs: list[tuple[bytes, bytes]]
    ) -> list[bool]:
        for signature, message in pairs:
            verify(signature, message, *given)
        return [True] * len(pairs)

    messages = [os.urandom(200) for _ in range(count)]
    keys = (
        ("EdDSA", ed25519.Ed25519PrivateKey.generate(), ()),
        ("ES256-DER", ec.generate_private_key(ec.SECP256R1()), (ec.ECDSA(hashes.SHA256()),)),
    )
    for subject, key, given in keys:
        public, signed = key.public_key(), [key.sign(message, *given) for message in messages]
        own = VerifyingKey(
            public.public_bytes(
                serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
            ),
            subject,
        )
        pairs, loop = list(zip(signed, messages, strict=True)), partial(each, public.verify, given)
        name = f"{type(public).__module__}.{type(public).__name__}.verify"
        op, right = "verify", [True] * count
        yield [
            Row("lanecrypt", "lanecrypt.signatures.verify_many", subject, op, count, verify_many,
                (own, messages, signed), right),
            Row("cryptography", name, subject, op, count, loop, (pairs,), right),
        ]


def measure(rows: list[Row], seconds: float) -> None:
    """Lets the rows take turns until the time is up."""
    for row in rows:
        while row.turn() * row.loops < TURN / 2:
            row.loops *= 2
    order = list(rows)
    empty: list[float] = []
    end = time.perf_counter() + seconds
    gc.disable()
    while time.perf_counter() < end or len(empty) < 11:
        random.shuffle(order)
        empty.append(empty_loop())
        for row in order:
            row.turns.append(row.turn())
    gc.enable()
    loop = statistics.median(empty)
    for row in rows:
        row.turns = sorted(max(turn - loop, 0.0) for turn in row.turns)


def interval(turns: list[float]) -> tuple[float, float]:
    """The ends of the median's 95 % interval, by order statistics."""
    half, spread = len(turns) / 2, 0.98 * len(turns) ** 0.5
    return turns[max(0, int(half - spread))], turns[min(len(turns) - 1, int(half + spread))]


def machine() -> dict[str, object]:
    info = Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    fields = dict(
        (line.split(":", 1)[0].strip(), line.split(":", 1)[1].strip())
        for line in info.splitlines()
        if ":" in line
    )
    flags = fields.get("flags", "").split()
    named = ("ssse3", "aes", "pclmulqdq", "avx2", "vaes", "vpclmulqdq", "avx512f", "avx512ifma", "gfni")
    return {
        "cpu": fields.get("model name", platform.processor() or "unknown"),
        "arch": platform.machine(),
        "flags": [flag for flag in named if flag in flags],
        "isa": lanecrypt.isa(),
        "processors": len(os.sched_getaffinity(0)),
        "tsc_ghz": round(float(fields.get("cpu MHz", "0")) / 1000, 3),
        "kernel": platform.release(),
        "virtualised": "hypervisor" in flags,
        "profile": "release",
        "libraries": [{"source": source, "version": version} for source, version in VERSIONS.items()],
    }


VERSIONS = {
    "lanecrypt": lanecrypt.__version__,
    "cryptography": cryptography.__version__,
    "python": platform.python_version(),
}


def point(row: Row) -> dict[str, object]:
    low, high = interval(row.turns)
    ns = statistics.median(row.turns)
    return {
        "id": f"python/{row.source}/{row.api}/{row.subject}/{row.op}/{row.size}",
        "table": "python",
        "source": row.source,
        "version": VERSIONS[row.source],
        "api": row.api,
        "subject": row.subject,
        "op": row.op,
        "size": row.size,
        "threads": 1,
        "ns": round(ns, 1),
        "ns_low": round(low, 1),
        "ns_high": round(high, 1),
        "per_second": round(1e9 / ns) if ns else None,
        "verified": True,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Nanoseconds of a call, beside other packages.")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--budget", type=float, default=25, help="seconds for all rows together")
    options = parser.parse_args()

    groups = [rows for rows in [*ciphers(), *numbers(), *signatures()] if options.only in rows[0].name]
    points = []
    print(f"{'call':32} {'ns':>8}  others")
    for rows in groups:
        for row in rows:
            if not row.is_right():
                raise SystemExit(f"{row.source} {row.name}: a wrong result")
        measure(rows, options.budget / len(groups))
        points += [point(row) for row in rows]
        figures = [statistics.median(row.turns) for row in rows]
        others = "  ".join(f"{f:7.0f} {row.api}" for f, row in zip(figures[1:], rows[1:], strict=True))
        print(f"{rows[0].name:32} {figures[0]:8.0f}  {others}", flush=True)
    if options.json:
        results = {"schema": 1, "machine": machine(), "points": points}
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
