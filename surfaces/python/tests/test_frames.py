"""The programs of `examples/`, with the packages that are there."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pyarrow
import pyarrow.parquet as parquet
import pytest

from lanecrypt import columns

EXAMPLES = Path(__file__).parent.parent / "examples"
KEY = bytes(range(32))


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("package", ["polars", "ray"])
def test_a_table_by_batches(package, tmp_path, monkeypatch):
    pytest.importorskip(package, reason=f"SKIPPED {package}: pip install {package}")
    monkeypatch.setenv("LANECRYPT_KEY_TABLE", KEY.hex())
    source, output = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = pyarrow.table({"id": range(10_000), "ssn": [f"{n:09}" for n in range(10_000)]})
    parquet.write_table(table, source)
    example(f"{package}_batches").encrypt_column(str(source), str(output), "ssn")
    sealed = parquet.read_table(output).sort_by("id")
    assert sealed["id"].equals(table["id"])
    values = columns.decrypt(sealed["ssn"], KEY, layout="aes_gcm_siv", context="ssn", text=True)
    assert values.to_pylist() == table["ssn"].to_pylist()
