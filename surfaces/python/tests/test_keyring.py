"""Rings of keys, tables that remember how they were encrypted, and errors that say what differs."""

import json
import pathlib
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import lanecrypt.file
from lanecrypt import columns

ROOT = pathlib.Path(__file__).resolve().parents[3]
KINDS = [
    pa.binary(), pa.string(), pa.large_binary(), pa.large_string(), pa.binary_view(),
    pa.string_view(), pa.binary(4),
]


def people(kind=None):
    ssn = pa.array(["1234", None, "5678", "abcd"] if kind is None else [b"1234", None, b"5678", b"abcd"])
    return pa.table({
        "id": pa.array([1, 2, 3, 4], pa.int64()), "ssn": ssn.cast(kind) if kind else ssn,
        "city": ["a", "b", "c", "d"],
    })


@pytest.mark.parametrize("layout", columns.LAYOUTS)
def test_rings_there_and_back(layout):
    ring = columns.Keyring(layout)
    old = ring.primary
    array = pa.chunked_array([["a", None], ["b" * 50], []], pa.string())
    cells = columns.encrypt(array, ring, context="c")
    prefix = b"\1" + old.to_bytes(4, "big")
    assert all(cell is None or cell.startswith(prefix) for cell in cells.to_pylist())
    new = ring.add()
    assert ring.keys == [(old, "primary"), (new, "active")]
    ring.set_primary(new)
    mixed = pa.chunked_array([*cells.chunks, *columns.encrypt(array, ring, context="c").chunks])
    done = columns.rekey(mixed, ring, context="c")
    assert done[1:] == (2, 2, 0, 0) and done.cells.null_count == 2
    ring.disable(old)
    back = columns.decrypt(done.cells, ring, context="c", text=True, threads=2)
    assert back.to_pylist() == 2 * array.to_pylist()

    for state, message in (("disabled", f"key {old} is disabled"), ("gone", f"no key {old}")):
        if state == "gone":
            ring.remove(old)
        with pytest.raises(columns.UnknownKey, match=f"^row 0: .*{message}"):
            columns.decrypt(mixed, ring, context="c")
        assert columns.rekey(mixed, ring, context="c")[1:] == (2, 0, 2, 0)
    changed = mixed.to_pylist()
    changed[3] = changed[3][:-1] + bytes([changed[3][-1] ^ 1])
    changed[5] = b"\2" + changed[5][1:]
    assert columns.decrypt(pa.array(changed), ring, context="c", on_error="null").null_count == 6
    assert (ring.unknown, ring.forged) == (2, 2)
    with pytest.raises(lanecrypt.InvalidTag, match="row 5: the cell does not begin with the id"):
        columns.decrypt(pa.array([None] * 5 + changed[5:]), ring, context="c")


def test_states_and_json():
    ring = columns.Keyring("aes_gcm", bytes(range(16)), id=7)
    assert ring.primary == 7 and ring.layout == "aes_gcm"
    assert ring.add(bytearray(32), id=8) == 8
    stored = AESGCM(bytes(16)).encrypt(bytes(12), ring.to_json().encode(), None)
    back = columns.Keyring.from_json(AESGCM(bytes(16)).decrypt(bytes(12), stored, None).decode())
    assert back.to_json() == ring.to_json() and back.keys == ring.keys
    assert json.loads(ring.to_json())["keys"][0] == {
        "id": 7, "state": "primary", "key": bytes(range(16)).hex()
    }
    assert "7 primary, 8 active" in repr(ring) and "0102" not in repr(ring)
    for act, error in (
        (lambda: ring.disable(7), ValueError), (lambda: ring.remove(7), ValueError),
        (lambda: ring.remove(9), columns.UnknownKey), (lambda: ring.add(bytes(16), id=8), ValueError),
        (lambda: ring.add(id=9), ValueError), (lambda: ring.add(bytes(15)), ValueError),
        (lambda: ring.add(bytes(16), id=2**32), OverflowError),
        (lambda: columns.Keyring("rot13"), ValueError), (lambda: ring.add("text"), TypeError),
    ):
        with pytest.raises(error):
            act()
    for wrong in ("", "{}", "[]", ring.to_json()[:-1], ring.to_json().replace("primary", "none")):
        with pytest.raises(ValueError, match="^not a key ring in JSON$"):
            columns.Keyring.from_json(wrong)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_tables_keep_types_and_other_metadata(kind, tmp_path):
    table = people(kind)
    table = table.set_column(1, table.schema.field(1).with_metadata({"pii": "yes"}), table.column(1))
    for key in (columns.Keyring(), columns.Key(bytes(32), "aes_gcm"), bytes(16)):
        sealed = columns.encrypt_table(table, {"ssn": key}, rows="id")
        pq.write_table(sealed, tmp_path / "t.parquet")
        pa.feather.write_feather(sealed, tmp_path / "t.arrow")
        for back in (
            sealed, pq.read_table(tmp_path / "t.parquet"), pa.feather.read_table(tmp_path / "t.arrow")
        ):
            plain = columns.decrypt_table(back, key)
            assert plain.column("ssn") == table.column("ssn")
            assert plain.schema.field("ssn").type == kind
            assert plain.schema.field("ssn").metadata[b"pii"] == b"yes"
            assert not [it for it in plain.schema.field("ssn").metadata if it.startswith(b"lanecrypt")]
    batch = table.to_batches()[0]
    ring = columns.Keyring()
    assert columns.decrypt_table(columns.encrypt_table(batch, {"ssn": ring}), ring) == batch


def test_new_process_with_nothing_but_the_ring(tmp_path):
    ring = columns.Keyring("aes_gcm")
    table = people()
    path = tmp_path / "people.parquet"
    pq.write_table(columns.encrypt_table(table, {"ssn": ring, "city": ring}, rows="id"), path)
    program = (
        "import sys, pyarrow.parquet as pq\n"
        "from lanecrypt import columns\n"
        "ring = columns.Keyring.from_json(sys.stdin.read())\n"
        "table = pq.read_table(sys.argv[1])\n"
        "print(columns.decrypt_table(table, ring).to_pylist())\n"
    )

    def read():
        outcome = subprocess.run(
            [sys.executable, "-c", program, str(path)], input=ring.to_json(), capture_output=True,
            text=True, check=False,
        )
        assert outcome.returncode == 0, outcome.stderr
        return outcome.stdout.strip()

    assert read() == str(table.to_pylist())
    old = ring.primary
    ring.set_primary(ring.add())
    moved, counts = columns.rekey_table(pq.read_table(path), ring)
    assert {name: done[1:] for name, done in counts.items()} == {
        "ssn": (0, 3, 0, 0), "city": (0, 4, 0, 0)
    }
    assert moved.schema.field("ssn").metadata[b"lanecrypt.key"] == str(ring.primary).encode()
    ring.remove(old)
    with pytest.raises(columns.UnknownKey, match=f"^column 'ssn', row 0: the key ring has no key {old}"):
        columns.decrypt_table(pq.read_table(path), ring)
    pq.write_table(moved, path)
    assert read() == str(table.to_pylist())


def test_encrypted_columns_are_refused_unless_asked_for():
    ring, other = columns.Keyring(), columns.Keyring("deterministic")
    table = people()
    once = columns.encrypt_table(table, {"ssn": ring}, rows="id")
    with pytest.raises(ValueError, match="'ssn' is encrypted already"):
        columns.encrypt_table(once, {"ssn": other})
    twice = columns.encrypt_table(once, {"ssn": other}, again=True)
    assert columns.decrypt_table(twice, other).schema.equals(once.schema, check_metadata=True)
    assert columns.decrypt_table(columns.decrypt_table(twice, other), ring) == table


def test_errors_say_what_differs():
    ring = columns.Keyring("aes_gcm")
    table = people()
    sealed = columns.encrypt_table(table, {"ssn": ring}, rows="id", context={"ssn": "people.ssn"})

    def refused(error, message=".", table=sealed, key=ring, **options):
        with pytest.raises(error, match=re.escape(message) if message != "." else "."):
            columns.decrypt_table(table, key, **options)

    refused(columns.UnknownKey, f"no key {ring.primary}", key=columns.Keyring("aes_gcm"))
    refused(ValueError, "has cells of aes_gcm, not of aes_gcm_siv", key=columns.Keyring())
    refused(ValueError, "with a Keyring, not with a Key", key=columns.Key(bytes(16), "aes_gcm"))
    refused(ValueError, "for the context 'people.ssn', not 'x'", context={"ssn": "x"})
    missing = sealed.drop_columns(["id"])
    refused(ValueError, "is bound to the column 'id' of int64, which is missing", table=missing)
    text = sealed.set_column(0, "id", pa.array(["1", "2", "3", "x"]))
    refused(ValueError, "of int64, which is of string now", table=text)
    narrow = sealed.set_column(0, "id", sealed.column("id").cast(pa.int16()))
    assert columns.decrypt_table(narrow, ring).column("ssn") == table.column("ssn")
    renamed = sealed.rename_columns(["number", "ssn", "city"])
    refused(ValueError, "'id' of int64, which is missing", table=renamed)
    assert columns.decrypt_table(renamed, ring, rows="number").column("ssn") == table.column("ssn")
    moved = sealed.set_column(0, "id", pa.array([3, 2, 1, 4], pa.int64()))
    forged = "column 'ssn', row 0: the cell is not authentic: a changed or moved cell"
    refused(lanecrypt.InvalidTag, forged + " or another value of 'id'", table=moved)
    nulls = columns.decrypt_table(moved, ring, on_error="null")
    assert nulls.column("ssn").to_pylist() == [None, None, None, "abcd"]
    assert (ring.forged, ring.unknown) == (2, 0)
    field = sealed.schema.field("ssn")
    for name, value, error in (
        ("context", "other", lanecrypt.InvalidTag), ("rows", "[1]", ValueError),
        ("rows", "{", ValueError), ("type", "int64", lanecrypt.InvalidTag), ("layout", "x", ValueError),
        ("type", "nothing", ValueError), ("type", b"\xff", ValueError), ("schema", "AAAA", ValueError),
        ("schema", "%", ValueError), ("type", "fixed_size_binary[99999999999]", ValueError),
        ("rows", '["id", "nothing"]', ValueError), ("again", "[", ValueError), ("again", "5", ValueError),
        ("rows", "[" * 100_000, ValueError), ("context", b"\xff", ValueError),
    ):
        lied = field.with_metadata({**field.metadata, f"lanecrypt.{name}".encode(): value})
        refused(error, table=sealed.set_column(1, lied, sealed.column("ssn")))
    for act in (
        lambda: columns.decrypt_table(table, {"ssn": ring}),
        lambda: columns.encrypt_table(table, {"none": ring}),
        lambda: columns.encrypt_table(table, {"ssn": ring}, rows="none"),
        lambda: columns.encrypt_table(table, {"ssn": ring}, rows="ssn"),
        lambda: columns.encrypt_table(table, {"ssn": ring}, context={"city": "c"}),
        lambda: columns.encrypt_table(sealed, {"city": ring}, rows="ssn"),
        lambda: columns.encrypt_table(columns.encrypt_table(table, {"ssn": ring}, rows="city"), {"city": ring}),
    ):
        with pytest.raises(ValueError):
            act()
    with pytest.raises(TypeError, match="a table or record batch of pyarrow"):
        columns.decrypt_table([1], ring)
    assert columns.decrypt_table(table, ring) == table

    # Without metadata: all that may be.
    cells = columns.encrypt(pa.array(["a"]), bytes(16), context="c")
    for options, causes in (
        ({}, "another key or layout, a missing context or missing rows"),
        ({"context": "d", "rows": pa.array([1])}, "another key or layout, another context or other rows"),
    ):
        with pytest.raises(lanecrypt.InvalidTag, match=f"changed or moved cell, {causes}$"):
            columns.decrypt(cells, bytes(16), **options)


def test_cells_of_tink():
    """Made by Tink's package for Python, 1.16.1: AES-GCM, output prefix TINK."""
    lines = (ROOT / "columns/tests/columns/tink.jsonl").read_text().splitlines()
    for line in map(json.loads, lines):
        ring = columns.Keyring("aes_gcm", bytes.fromhex(line["key"]), id=line["id"])
        context = bytes.fromhex(line["associated_data"])
        cells = pa.array([bytes.fromhex(line["cell"])])
        value = bytes.fromhex(line["value"])
        assert columns.decrypt(cells, ring, context=context).to_pylist() == [value]
    assert len(lines) == 16


def test_guide(tmp_path, monkeypatch):
    """The examples of the guide in Python run."""
    monkeypatch.chdir(tmp_path)
    guide = (ROOT / "GUIDE.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    assert len(examples) == 3
    pq.write_table(people(), "people.parquet")
    for example in examples:
        assert len([line for line in example.splitlines() if line]) <= 10
        exec(compile(example, "GUIDE.md", "exec"), {})
    with lanecrypt.file.open("people.lanecrypt", passphrase="correct horse battery staple") as sealed:
        assert sealed.read() == pathlib.Path("people.parquet").read_bytes()
