"""A table that is encrypted in batches takes the memory of batches, and a file that of chunks, however long
they are."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import numpy, pyarrow
import pyarrow.compute as compute
from lanecrypt import columns

def status(name):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))

batches, rows = int(sys.argv[1]), 1_000_000
key = columns.Key(bytes(32), "aes_gcm")
numbers = pyarrow.array(numpy.arange(rows)).cast("string")
values = compute.utf8_lpad(numbers, 32, "0").cast("binary")
del numbers
# The highest mark so far is forgotten.
with open("/proc/self/clear_refs", "w") as marks:
    marks.write("5")
before = status("VmRSS")
sealed = 0
for _ in range(batches):
    cells = columns.encrypt(values, key)
    sealed += len(cells)
assert sealed == batches * rows
assert columns.decrypt(cells.slice(7, 9), key).equals(values.slice(7, 9))
# A batch: its values and its cells.
print((status("VmHWM") - before) / (values.nbytes + cells.nbytes))
"""


def growth(batches: int) -> float:
    """What the process has grown by at most, in batches of values with their cells."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(batches)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def test_ten_million_rows_take_no_more_than_a_few_batches():
    one, ten = growth(1), growth(10)
    # The cells are there, and what is measured is not nothing.
    assert 0.5 < one < 2, one
    assert ten < 3, (one, ten)


FILES = """
import os, resource, sys
from lanecrypt import file
folder, key, size = sys.argv[1], bytes(32), 200_000_000
file.encrypt("/dev/null", folder + "/file", key=key)
with open("/proc/self/statm") as numbers:
    used = int(numbers.read().split()[0]) * os.sysconf("SC_PAGESIZE")
resource.setrlimit(resource.RLIMIT_AS, (used + 60_000_000,) * 2)
with file.open(folder + "/file", "wb", key=key) as writer:
    for _ in range(size // 1_000_000):
        writer.write(bytes(1_000_000))
assert file.decrypt(folder + "/file", folder + "/back", key=key) == size
assert file.encrypt(folder + "/back", folder + "/file", key=key) == size
with file.open(folder + "/file", key=key) as reader:
    assert sum(map(len, iter(lambda: reader.read(1_000_000), b""))) == size
try:
    bytes(size)
except MemoryError:
    print("limited")
"""


def test_files_are_larger_than_the_memory(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FILES, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "limited\n", done.stderr
