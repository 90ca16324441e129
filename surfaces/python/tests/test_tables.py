"""Tables of other packages there and back, keys by name, and joins of deterministic columns."""

import datetime
import decimal
import random

import pandas
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lanecrypt
from lanecrypt import columns
from lanecrypt.keys import Environment, KeyNotFound

duckdb = pytest.importorskip("duckdb")

DAY = datetime.datetime(2026, 2, 3, 4, 5, 6)
FRAME = pl.DataFrame({
    "id": [1, 2, 3],
    "ssn": ["078-05-1120", None, ""],
    "age": [30, None, -1],
    "pay": [decimal.Decimal("1.50"), None, decimal.Decimal("-2.00")],
    "ratio": [1.5, None, -0.0],
    "vip": [True, None, False],
    "seen": [DAY, None, DAY],
    "zoned": pl.Series([DAY, None, DAY]).dt.replace_time_zone("Europe/Berlin"),
    "for": [datetime.timedelta(1), None, datetime.timedelta(0)],
    "at": [datetime.time(1), None, datetime.time(2)],
    "list": [[1, None], None, []],
    "address": [{"city": "x", "zip": [1]}, None, {"city": None, "zip": None}],
    "kind": pl.Series(["u", "v", None], dtype=pl.Categorical),
    "size": pl.Series(["low", "high", None], dtype=pl.Enum(["low", "high"])),
})
NAMES = [name for name in FRAME.columns if name != "id"]


def test_polars():
    ring = columns.Keyring()
    keys = dict.fromkeys(NAMES, ring)
    sealed = columns.encrypt_table(FRAME, keys, rows="id", context={"ssn": "people.ssn"})
    assert isinstance(sealed, pl.DataFrame) and sealed.columns == FRAME.columns
    assert set(sealed.dtypes[1:]) == {pl.Binary} and sealed["age"].null_count() == 1
    options = {"types": FRAME.schema, "rows": "id", "context": {"ssn": "people.ssn"}}
    back = columns.decrypt_table(sealed, keys, **options)
    assert back.schema == FRAME.schema and back.equals(FRAME)
    # Arrow does not know which values an Enum may have.
    types = {field.name: field.type for field in FRAME.to_arrow().schema}
    back = columns.decrypt_table(sealed, keys, **{**options, "types": types})
    assert back.drop("size").equals(FRAME.drop("size"))
    with pytest.raises(lanecrypt.InvalidTag, match="column 'ssn', row 0"):
        columns.decrypt_table(sealed, keys, types=FRAME.schema, rows="id")
    with pytest.raises(lanecrypt.InvalidTag, match="another value of 'id'"):
        columns.decrypt_table(sealed.with_columns(id=pl.lit(7)), keys, **options)
    with pytest.raises(ValueError, match="tables of polars do not say how"):
        columns.decrypt_table(sealed, ring)
    with pytest.raises(ValueError, match="their types of before in types="):
        columns.decrypt_table(sealed, keys, types={"age": "int64"}, rows="id")
    with pytest.raises(lanecrypt.InvalidTag, match="column 'age', row 0: .* another type"):
        columns.decrypt_table(sealed, {"age": ring}, types={"age": "uint64"}, rows="id")
    with pytest.raises(ValueError, match="no column 'other'"):
        columns.encrypt_table(FRAME, {"other": ring})


def test_lazy_frames_and_expressions(tmp_path):
    ring = columns.Keyring("deterministic")
    keys = dict.fromkeys(NAMES, ring)
    FRAME.write_parquet(tmp_path / "plain.parquet")
    scanned = pl.scan_parquet(tmp_path / "plain.parquet").cast(FRAME.schema)
    sealed = columns.encrypt_table(scanned, keys, rows="id")
    assert isinstance(sealed, pl.LazyFrame)
    assert set(sealed.collect_schema().dtypes()[1:]) == {pl.Binary}
    sealed.sink_parquet(tmp_path / "sealed.parquet")
    scanned = pl.scan_parquet(tmp_path / "sealed.parquet")
    back = columns.decrypt_table(scanned, keys, types=FRAME.schema, rows="id")
    assert back.collect_schema() == FRAME.schema
    assert back.collect().equals(FRAME) and back.collect(engine="streaming").equals(FRAME)
    # Filters and selections of what was encrypted, not of what it was before.
    assert back.filter(pl.col("age") > 0).select("ssn").collect().to_series().to_list() == ["078-05-1120"]
    assert columns.encrypt_table(back, {"age": ring}).filter(pl.col("age") == b"").collect().is_empty()
    with pytest.raises(ValueError, match="no progress="):
        columns.encrypt_table(scanned, {"ssn": ring}, progress=True)
    with pytest.raises(ValueError, match="no such columns"):
        columns.encrypt_table(scanned, {"none": ring})

    key = columns.Key(bytes(32))
    cells = FRAME.lazy().select(
        pl.col("age").map_batches(lambda it: columns.encrypt(it, key, type=pl.Int64), return_dtype=pl.Binary)
    )
    plain = cells.select(
        pl.col("age").map_batches(lambda it: columns.decrypt(it, key, type=pl.Int64), return_dtype=pl.Int64)
    )
    assert plain.collect()["age"].equals(FRAME["age"])


def test_pandas():
    ring = columns.Keyring("aes_gcm")
    frame = pandas.DataFrame({
        "id": [1, 2, 3], "age": [30, 40, 50], "ssn": ["a", None, "c"], "ratio": [1.5, None, 2.0],
        "seen": pandas.to_datetime(["2026-02-03", None, "2026-02-04"]),
        "kind": pandas.Categorical(["x", "y", None]), "tags": [["a"], None, []],
    }, index=[5, 6, 7])
    types = {
        "age": "int64", "ssn": "string", "ratio": "double", "seen": "timestamp[ns]",
        "kind": pa.dictionary(pa.int8(), pa.string()), "tags": pa.list_(pa.string()),
    }
    keys = dict.fromkeys(types, ring)
    sealed = columns.encrypt_table(frame, keys, rows="id")
    assert isinstance(sealed, pandas.DataFrame) and list(sealed.index) == [5, 6, 7]
    assert list(sealed.columns) == list(frame.columns) and frame["age"].tolist() == [30, 40, 50]
    back = columns.decrypt_table(sealed, keys, rows="id", types=types)
    assert {name: back[name].dtype.pyarrow_dtype for name in types} == {
        name: kind if isinstance(kind, pa.DataType) else pa.type_for_alias(kind) for name, kind in types.items()
    }
    assert list(back.index) == [5, 6, 7] and back["id"].equals(frame["id"])
    for name in types:
        expected = pa.array(frame[name], from_pandas=True).to_pylist()
        assert pa.array(back[name]).to_pylist() == expected, name
    with pytest.raises(ValueError, match="tables of pandas do not say how"):
        columns.decrypt_table(sealed, ring)


def test_duckdb():
    ring = columns.Keyring()
    connection = duckdb.connect()
    connection.sql(
        "create table people as select i as id, 'v' || i as ssn,"
        " case when i % 3 > 0 then i::smallint end as age, (i / 4)::decimal(9, 2) as pay,"
        " date '2026-01-01' + i::int as day, [i, null] as list, {'a': i} as s,"
        " i % 2 = 0 as even, i::varchar::blob as bytes from range(5000) t(i)"
    )
    people = connection.table("people")
    schema = people.to_arrow_table().schema
    types = {field.name: field.type for field in schema if field.name != "id"}
    keys = dict.fromkeys(types, ring)
    sealed = columns.encrypt_table(people, keys, rows="id")
    assert type(sealed) is type(people) and set(map(str, sealed.types[1:])) == {"BLOB"}
    # In the connection that the table is in.
    connection.sql("create table sealed as select * from sealed order by id desc")
    back = columns.decrypt_table(connection.table("sealed"), keys, rows="id", types=types)
    assert back.types == people.types
    assert back.order("id").fetchall() == people.fetchall()
    with pytest.raises(ValueError, match="tables of duckdb do not say how"):
        columns.decrypt_table(connection.table("sealed"), ring)


def test_files_without_metadata():
    """What another package has written, in pyarrow."""
    ring = columns.Keyring()
    plain = pa.table({"id": [1, 2], "age": [30, None]})
    bare = columns.encrypt_table(plain, {"age": ring}, rows="id").replace_schema_metadata(None)
    bare = pa.table({"id": bare["id"], "age": bare["age"]})
    assert columns.decrypt_table(bare, {"age": ring}, rows="id", types={"age": pa.int64()}) == plain
    with pytest.raises(ValueError, match="'age' does not say that it is encrypted: types= has"):
        columns.decrypt_table(bare, {"age": ring}, rows="id")
    with pytest.raises(lanecrypt.InvalidTag):
        columns.decrypt_table(bare, {"age": ring}, types={"age": pa.int64()})


def test_keys_by_name(monkeypatch):
    monkeypatch.setenv("LANECRYPT_KEY_PEOPLE", "07" * 32)
    table = pa.table({"ssn": ["a", None], "age": [1, 2]})
    names = {"ssn": "people", "age": "people"}
    for options in ({}, {"layout": "chacha20_poly1305"}):
        sealed = columns.encrypt_table(table, names, keys=Environment(), **options)
        assert b"people" not in str(sealed.schema.field("ssn").metadata).encode()
        for key in (names, "people"):
            assert columns.decrypt_table(sealed, key, keys=Environment(), **options) == table
    ring = columns.Keyring()
    sealed = columns.encrypt_table(table, names, keys={"people": ring}.__getitem__)
    assert columns.decrypt_table(sealed, ring) == table
    with pytest.raises(TypeError, match="column 'ssn': 'people' is the name of a key: keys= has"):
        columns.encrypt_table(table, names)
    with pytest.raises(TypeError, match="the keys are a dict"):
        columns.encrypt_table(table, "people", keys=Environment())
    with pytest.raises(KeyNotFound, match="'others'"):
        columns.encrypt_table(table, {"ssn": "others"}, keys=Environment())
    with pytest.raises(TypeError, match="takes a provider"):
        columns.encrypt_table(table, names, keys={"people": bytes(32)})


def joinable(ring, kind):
    """Two tables with keys in common, by a shared context; and the pairs of their rows."""
    draw = random.Random(str(kind))
    values = pa.array([draw.randrange(40) for _ in range(150)], "int32").cast(kind).to_pylist()
    left = pa.table({"a": range(100), "ssn": pa.array([*values[:99], None], kind)})
    right = pa.table({"b": range(51), "customer": pa.array([*values[100:], None], kind)})
    pairs = sorted(
        (a, b)
        for a, one in enumerate(left["ssn"].to_pylist())
        for b, other in enumerate(right["customer"].to_pylist())
        if one is not None and one == other
    )
    left = columns.encrypt_table(left, {"ssn": ring}, context={"ssn": "ssn"})
    right = columns.encrypt_table(right, {"customer": ring}, context={"customer": "ssn"})
    return left, right, pairs


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.date32(), pa.decimal128(12, 2)], ids=str)
@pytest.mark.parametrize("ring", [columns.Keyring("deterministic"), columns.Key(bytes(64), "deterministic")])
def test_joins_of_deterministic_columns(ring, kind):
    left, right, pairs = joinable(ring, kind)
    assert len(pairs) > 50
    joined = left.join(right, "ssn", "customer", "inner")
    assert sorted(zip(joined["a"].to_pylist(), joined["b"].to_pylist())) == pairs
    assert left["ssn"].null_count == 1
    rows = duckdb.sql("select a, b from \"left\" join \"right\" on ssn = customer").fetchall()
    assert sorted(rows) == pairs
    frame = pl.from_arrow(left).join(pl.from_arrow(right), left_on="ssn", right_on="customer")
    assert sorted(frame.select("a", "b").rows()) == pairs
    # What was joined can be decrypted: its metadata is that of one table.
    assert columns.decrypt_table(left, ring)["ssn"].type == kind

    # A dictionary has the cells of its values.
    if kind == pa.string():
        plain = columns.decrypt_table(left, ring)
        encoded = plain.set_column(1, "ssn", plain["ssn"].dictionary_encode())
        assert columns.encrypt_table(encoded, {"ssn": ring}, context={"ssn": "ssn"})["ssn"] == left["ssn"]


def test_what_does_not_join():
    ring = columns.Keyring("deterministic")
    numbers = pa.table({"id": [1, 2], "n": pa.array([5, 6], pa.int64())})
    cells = {
        name: set(columns.encrypt_table(table, {"n": ring}, **options)["n"].to_pylist())
        for name, table, options in (
            ("same", numbers, {}), ("again", numbers, {}),
            ("other context", numbers, {"context": {"n": "m"}}), ("rows", numbers, {"rows": "id"}),
            ("other type", numbers.set_column(1, "n", numbers["n"].cast("uint64")), {}),
        )
    }
    assert cells.pop("same") == cells["again"]
    assert len(set.union(*cells.values())) == 8
    # After a new key, until the other table has moved to it.
    old = columns.encrypt_table(numbers, {"n": ring})
    ring.set_primary(ring.add())
    new = columns.encrypt_table(numbers, {"n": ring})
    assert not {*old["n"].to_pylist()} & {*new["n"].to_pylist()}
    assert columns.rekey_table(old, ring)[0]["n"] == new["n"]


def test_an_encrypted_file_of_polars_in_pyarrow(tmp_path):
    ring = columns.Keyring()
    sealed = columns.encrypt_table(FRAME, {"list": ring, "address": ring}, rows="id")
    sealed.write_parquet(tmp_path / "t.parquet")
    types = {name: FRAME[name].to_arrow().type for name in ("list", "address")}
    found = pq.read_table(tmp_path / "t.parquet")
    back = columns.decrypt_table(found, dict.fromkeys(types, ring), rows="id", types=types)
    assert pl.from_arrow(back.select(["list", "address"])).equals(FRAME.select("list", "address"))
