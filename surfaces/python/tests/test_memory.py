"""A table that is encrypted in batches takes the memory of batches, however long it is."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import resource, sys
import pyarrow
from lanecrypt import columns

batches, rows = int(sys.argv[1]), 1_000_000
values = pyarrow.array([b"%032d" % n for n in range(rows)])
key = columns.Key(bytes(32), "aes_gcm")
batch = values.nbytes
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sealed = 0
for _ in range(batches):
    cells = columns.encrypt(values, key)
    sealed += len(cells)
    back = columns.decrypt(cells, key)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert sealed == batches * rows and back.equals(values)
# The cells and the values that came back.
print((after - before) * 1024 / (cells.nbytes + back.nbytes))
"""


def growth(batches: int) -> float:
    """What the process has grown by, in batches with their cells."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(batches)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def test_ten_million_rows_take_no_more_than_one():
    one, ten = growth(1), growth(10)
    assert one < 1.5, one
    assert ten < max(1.5, 1.3 * one), (one, ten)
