"""What earlier releases wrote is read: files, columns of every type, rings. `testing/fixtures/VERSION` has
it; with LANECRYPT_WRITE in the environment, that of this version is written unless it is there."""

import io
import json
import os
import pathlib
import random

import pyarrow as pa
import pytest
from test_types import KINDS, array_of, raw

import lanecrypt
from lanecrypt import columns, envelope, file

FIXTURES = pathlib.Path(__file__).resolve().parents[3] / "testing/fixtures"
KEK = bytes(range(32))


def write(folder):
    folder.mkdir(parents=True)
    ring = columns.Keyring()
    ids = pa.array([1, 2, 3], pa.int32())
    plain = {f"c{at}": array_of(random.Random(at), kind, 3) for at, kind in enumerate(KINDS)}
    sealed = columns.encrypt_table(pa.table({"id": ids, **plain}), dict.fromkeys(plain, ring), rows="id")
    with pa.ipc.new_stream(folder / "sealed.arrow", sealed.schema) as stream:
        stream.write_table(sealed)
    values = {name: [str(array.type), raw(array)] for name, array in plain.items()}
    (folder / "values.json").write_text(json.dumps(values, indent=0))
    (folder / "ring.json").write_text(ring.to_json())
    (folder / "wrapped.json").write_text(envelope.wrap_ring(ring, envelope.Local(KEK)))


def folders(area):
    own = FIXTURES / lanecrypt.__version__ / area
    if "LANECRYPT_WRITE" in os.environ and area == "python" and not own.exists():
        write(own)
    found = sorted(FIXTURES.glob(f"*/{area}"))
    assert found
    return found


def test_columns_and_rings_of_earlier_releases():
    for folder in folders("python"):
        ring = columns.Keyring.from_json((folder / "ring.json").read_text())
        wrapped = envelope.unwrap_ring((folder / "wrapped.json").read_text(), envelope.Local(KEK))
        assert json.loads(wrapped.to_json()) == json.loads(ring.to_json())
        with pa.ipc.open_stream(folder / "sealed.arrow") as stream:
            sealed = stream.read_all()
        values = json.loads((folder / "values.json").read_text())
        assert len(values) >= 54
        opened = columns.decrypt_table(sealed, ring)
        for name, (kind, rows) in values.items():
            assert (str(opened[name].type), raw(opened[name])) == (kind, rows), (folder, kind)
        with pytest.raises(lanecrypt.InvalidTag):
            columns.decrypt_table(sealed, columns.Keyring("aes_gcm_siv", bytes(32), id=ring.primary))


def test_files_of_earlier_releases():
    for folder in folders("files"):
        secrets = {name: (folder / name).read_bytes() for name in ("key", "passphrase")}
        secrets["passphrase"] = secrets["passphrase"].decode()
        paths = sorted(folder.glob("*.lanecrypt"))
        assert len(paths) >= 15
        for path in paths:
            kind, *_, length = path.stem.split("-")
            target = io.BytesIO()
            file.decrypt(path, target, **{kind: secrets[kind]})
            expected = bytes((i ^ i >> 8 ^ i >> 15) & 255 for i in range(int(length)))
            assert target.getvalue() == expected, path


def test_formats_of_later_releases_are_named():
    later = {"format": "lanecrypt wrapped ring 2", "locks": []}
    with pytest.raises(ValueError, match="'lanecrypt wrapped ring 2', of a later version"):
        envelope.unwrap_ring(json.dumps(later), envelope.Local(KEK))
    with pytest.raises(ValueError, match="format 2; this version reads format 1"):
        columns.Keyring.from_json('{"version": 2, "keys": []}')
