"""The programs of `examples/`, with the packages that are there."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet as parquet
import pytest

from lanecrypt import columns

EXAMPLES = Path(__file__).parent.parent / "examples"
EXTRAS = {"ray": "ray[data]"}
KEY = bytes(range(32))


@pytest.mark.parametrize("package", ["polars", "ray"])
def test_a_table_by_batches(package, tmp_path, monkeypatch):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"SKIPPED {package}: pip install '{EXTRAS.get(package, package)}'")
    monkeypatch.setenv("LANECRYPT_KEY_TABLE", KEY.hex())
    source, output = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = pyarrow.table({"id": range(10_000), "ssn": [f"{n:09}" for n in range(10_000)]})
    parquet.write_table(table, source)
    program = [sys.executable, str(EXAMPLES / f"{package}_batches.py"), str(source), str(output), "ssn"]
    # In a process of its own, which ends with all that it starts.
    done = subprocess.run(program, timeout=180, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    sealed = parquet.read_table(output).sort_by("id")
    assert sealed["id"].equals(table["id"])
    values = columns.decrypt(sealed["ssn"], KEY, layout="aes_gcm_siv", context="ssn", text=True)
    assert values.to_pylist() == table["ssn"].to_pylist()
