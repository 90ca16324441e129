"""Nanoseconds of a value: columns of a table, by Python, pandas, polars and Spark.

    python bench_columns.py                  all that is installed, of pandas, polars and pyspark
    python bench_columns.py --no-spark       without Spark, which takes most of the time
    python bench_columns.py --rows 0 --no-spark          only the rotation of a key
    python bench_columns.py --json FILE      and all results, as `lanecrypt speed --json` writes them

Values have 32 bytes. Everything is encrypted with a random nonce for each value. In the process, one
thread encrypts or decrypts a column of pyarrow; the rows take turns. In Spark (`local[2]`, sink `noop`)
the figures are wall time, and CPU time of the JVM and of all Python workers, which other load on the
machine changes less. Both contain reading the rows from a Parquet file, which `scan` shows alone.

Rotation: a column in chunks is moved to a new key by `rekey`, and by `decrypt` and `encrypt`. `rekey` is to
take at most 1.2 times as long, and no memory that grows with the column beside its result, which the last
lines show: the highest memory of a new process without the cells and the result.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow
from cryptography.hazmat.primitives.ciphers import aead

import bench
from lanecrypt import columns

SIZE = 32
KEY = bytes(range(64))
LAYOUTS = {
    "AESGCM": "aes_gcm",
    "AESGCMSIV": "aes_gcm_siv",
    "AESSIV": "deterministic",
    "ChaCha20Poly1305": "chacha20_poly1305",
}


@dataclass
class Row:
    """One way to encrypt or decrypt many values."""

    source: str
    api: str
    subject: str
    op: str
    values: int
    run: Callable[[], object]
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def loop_row(name: str, key: bytes, values: list[bytes], op: str) -> Row:
    """A loop over the values, as most programs have it."""
    cipher = getattr(aead, name)(key)
    is_siv = name == "AESSIV"

    def encrypt() -> pyarrow.Array:
        cells = []
        for value in values:
            if is_siv:
                cells.append(cipher.encrypt(value, None))
            else:
                nonce = os.urandom(12)
                cells.append(nonce + cipher.encrypt(nonce, value, None))
        return pyarrow.array(cells)

    cells = encrypt().to_pylist()
    key_of_ours = columns.Key(key, LAYOUTS[name])
    assert columns.decrypt(pyarrow.array(cells), key_of_ours).to_pylist() == values

    def decrypt() -> pyarrow.Array:
        if is_siv:
            return pyarrow.array([cipher.decrypt(cell, None) for cell in cells])
        return pyarrow.array([cipher.decrypt(cell[:12], cell[12:], None) for cell in cells])

    run = encrypt if op == "encrypt" else decrypt
    return Row("cryptography", "loop", f"{name}-{8 * len(key)}", op, len(values), run)


def in_process(rows: int) -> list[Row]:
    values = [random.randbytes(SIZE) for _ in range(rows)]
    column = pyarrow.array(values)
    few = values[: max(1, rows // 20)]
    made = []
    for name, layout in LAYOUTS.items():
        bits = 128 if name == "AESGCM" else 256
        key = KEY[: bits // 8]
        kept = columns.Key(key, layout)
        cells = columns.encrypt(column, kept)
        assert columns.decrypt(cells, kept).equals(column)
        encrypt = lambda kept=kept: columns.encrypt(column, kept)
        decrypt = lambda kept=kept, cells=cells: columns.decrypt(cells, kept)
        subject = f"{name}-{bits}"
        made.append(Row("lanecrypt", "columns", subject, "encrypt", rows, encrypt))
        made.append(Row("lanecrypt", "columns", subject, "decrypt", rows, decrypt))
        made += [loop_row(name, key, few, op) for op in ("encrypt", "decrypt")]
    return made + frames(few)


def frames(values: list[bytes]) -> list[Row]:
    """A function for each value, in tables of pandas and polars."""
    cipher = aead.AESGCM(KEY[:16])

    def one(value: bytes) -> bytes:
        nonce = os.urandom(12)
        return nonce + cipher.encrypt(nonce, value, None)

    made = []
    if has("pandas"):
        import pandas

        series = pandas.Series(values)
        kept = columns.Key(KEY[:16], "aes_gcm")
        assert columns.decrypt(series.map(one), kept).to_list() == values
        made.append(Row("pandas", "map", "AESGCM-128", "encrypt", len(values), lambda: series.map(one)))
    if has("polars"):
        import polars

        of_polars = polars.Series(values)
        run = lambda: of_polars.map_elements(one, return_dtype=polars.Binary)
        assert columns.decrypt(run(), columns.Key(KEY[:16], "aes_gcm")).to_list() == values
        made.append(Row("polars", "map_elements", "AESGCM-128", "encrypt", len(values), run))
    return made


CHUNK = 1 << 16
WAYS: dict[str, Callable[[Any, columns.Keyring], Any]] = {
    "rekey": lambda cells, ring: columns.rekey(cells, ring).cells,
    "decrypt+encrypt": lambda cells, ring: columns.encrypt(columns.decrypt(cells, ring), ring),
}


def cells_to_rotate(rows: int) -> tuple[pyarrow.ChunkedArray, columns.Keyring]:
    """A column under a key of a ring that has a new one now."""
    ring = columns.Keyring("aes_gcm_siv", KEY[:32])
    chunks = []
    for first in range(0, rows, CHUNK):
        count = min(CHUNK, rows - first)
        data = pyarrow.py_buffer(random.randbytes(count * SIZE))
        values = pyarrow.Array.from_buffers(pyarrow.binary(SIZE), count, [None, data])
        chunks.append(columns.encrypt(values.cast(pyarrow.binary()), ring))
    ring.set_primary(ring.add(KEY[32:]))
    return pyarrow.chunked_array(chunks), ring


def rotation(rows: int) -> list[Row]:
    cells, ring = cells_to_rotate(rows)
    few = cells.slice(0, 1000)
    for work in WAYS.values():
        assert columns.decrypt(work(few, ring), ring) == columns.decrypt(few, ring)
    return [
        Row("lanecrypt", api, "AESGCMSIV-256", "rotate", rows, lambda work=work: work(cells, ring))
        for api, work in WAYS.items()
    ]


def peak_of_rotation(api: str, rows: int) -> int:
    """The highest memory of a rotation in bytes, without the cells before and after it."""
    program = f"import bench_columns; bench_columns.print_peak({api!r}, {rows})"
    folder = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True)
    return int(done.stdout)


def print_peak(api: str, rows: int) -> None:
    cells, ring = cells_to_rotate(rows)
    WAYS[api](cells.slice(0, CHUNK), ring)
    before = status("VmRSS")
    # The highest memory counts from now.
    Path("/proc/self/clear_refs").write_text("5")
    made = WAYS[api](cells, ring)
    print(max(0, status("VmHWM") - before - made.nbytes))


def status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field))


def has(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        print(f"missing: {package}: pip install {package}")
        return False
    return True


def in_spark(rows: int, folder: Path) -> tuple[list[Row], Callable[[], None]]:
    """The rows of Spark, and what ends it. The table is made in the folder."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["LANECRYPT_KEY_BENCH"] = KEY[:16].hex()
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    path = (folder / "table").as_uri()
    session.range(0, rows, 1, 4).selectExpr(
        f"encode(lpad(cast(id as string), {SIZE}, '0'), 'UTF-8') as value"
    ).write.parquet(path)
    table = session.read.parquet(path)
    few = session.createDataFrame([(random.randbytes(SIZE),) for _ in range(100)], table.schema)
    expected = {bytes(row.value) for row in few.collect()}
    kept = columns.Key(KEY[:16], "aes_gcm")

    def row(source: str, api: str, work: Callable[[Any], Any], subject: str = "AESGCM-128") -> Row:
        some = pyarrow.array([bytes(row.value) for row in work(few).collect()])
        plain = some if subject == "none" else columns.decrypt(some, kept)
        assert set(plain.to_pylist()) == expected, api
        frame = work(table)
        run = lambda: frame.write.format("noop").mode("overwrite").save()
        return Row(source, api, subject, "spark", rows, run)

    made = [
        row("lanecrypt", "spark.encrypt", _ours),
        row("spark", "aes_encrypt", _by_row),
        row("cryptography", "mapInArrow", lambda frame: frame.mapInArrow(_loop, frame.schema)),
        row("spark", "mapInArrow-identity", lambda frame: frame.mapInArrow(_identity, frame.schema), "none"),
        row("spark", "scan", lambda frame: frame, "none"),
    ]
    return made, session.stop


def _ours(frame):
    from lanecrypt import spark
    from lanecrypt.keys import Environment

    return spark.encrypt(frame, {"value": "bench"}, keys=Environment(), layout="aes_gcm")


def _by_row(frame):
    return frame.selectExpr(f"aes_encrypt(value, X'{KEY[:16].hex()}', 'GCM') as value")


def _identity(batches):
    yield from batches


def _loop(batches):
    cipher = aead.AESGCM(KEY[:16])
    for batch in batches:
        cells = []
        for value in batch.column(0).to_pylist():
            nonce = os.urandom(12)
            cells.append(nonce + cipher.encrypt(nonce, value, None))
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array(cells)], names=["value"])


def cpu_seconds() -> float:
    """Of this process and of all that it has started."""
    parents, times = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        # From the third field on: the parent, and the times of it and of children that have ended.
        parents[int(folder.name)] = int(fields[1])
        times[int(folder.name)] = sum(map(int, fields[11:15]))
    total, found = 0, [os.getpid()]
    while found:
        process = found.pop()
        total += times.get(process, 0)
        found += [child for child, parent in parents.items() if parent == process]
    return total / os.sysconf("SC_CLK_TCK")


def measure(rows: list[Row], passes: int, before: int = 1) -> None:
    """Runs each row so often, and ``before`` that without measuring: caches fill, workers start, and the
    JVM compiles."""
    order = list(rows)
    for number in range(before + passes):
        random.shuffle(order)
        for row in order:
            cpu, wall = cpu_seconds(), time.perf_counter()
            row.run()
            wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
            if number >= before:
                row.wall.append(wall * 1e9 / row.values)
                row.cpu.append(cpu * 1e9 / row.values)


def point(row: Row) -> dict[str, object]:
    ns = statistics.median(row.wall)
    package = "pyspark" if row.source == "spark" else row.source
    version = importlib.metadata.version(package)
    low, high = bench.interval(sorted(row.wall))
    return {
        "id": f"python-columns/{row.source}/{row.api}/{row.subject}/{row.op}/{SIZE}",
        "table": "python-columns",
        "source": row.source,
        "version": version,
        "api": row.api,
        "subject": row.subject,
        "op": row.op,
        "size": SIZE,
        "batch": row.values,
        "threads": 2 if row.op == "spark" else 1,
        "ns": round(ns, 1),
        "ns_low": round(low, 1),
        "ns_high": round(high, 1),
        "cpu_ns": round(statistics.median(row.cpu), 1),
        "per_second": round(1e9 / ns),
        # Compared where the row was made.
        "verified": True,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Nanoseconds of a value of a column.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="values of a column; 0: no columns")
    parser.add_argument("--spark-rows", type=int, default=2_000_000, help="rows of Spark's table")
    parser.add_argument("--rotate-rows", type=int, default=10_000_000, help="cells that get a new key")
    parser.add_argument("--passes", type=int, default=5, help="figures are medians of so many")
    parser.add_argument("--no-spark", action="store_true")
    parser.add_argument("--json", type=Path, help="write all results to this file")
    options = parser.parse_args()

    rows = in_process(options.rows) if options.rows else []
    measure(rows, options.passes)
    if options.rotate_rows:
        rotated = rotation(options.rotate_rows)
        measure(rotated, options.passes)
        rows += rotated
    if not options.no_spark and has("pyspark"):
        with tempfile.TemporaryDirectory() as folder:
            of_spark, stop = in_spark(options.spark_rows, Path(folder))
            measure(of_spark, options.passes, before=4)
            stop()
        rows += of_spark
    points = [point(row) for row in rows]
    print(f"{'':46} {'wall ns':>9} {'CPU ns':>9}")
    for row, made in zip(rows, points, strict=True):
        name = f"{row.op:8} {row.subject:22} {row.source} {row.api}"
        print(f"{name:46} {made['ns']:9.1f} {made['cpu_ns']:9.1f}")
    if options.rotate_rows:
        ours, both = (statistics.median(row.wall) for row in rotated)
        print(f"rotate: rekey takes {ours / both:.2f} of decrypt + encrypt")
        for api in WAYS:
            extra = peak_of_rotation(api, options.rotate_rows)
            print(f"rotate: {api} takes {extra / 2**20:.1f} MiB beside the cells before and after it")
    if options.json:
        results = {"schema": 1, "machine": bench.machine(), "points": points}
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
