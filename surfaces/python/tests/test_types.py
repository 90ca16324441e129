"""Values of every type of Arrow there and back, in every layout; encodings; types that were changed."""

import base64
import decimal
import itertools
import math
import random
import struct
import sys
import types as modules

import numpy
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

import lanecrypt
from lanecrypt import _types, columns

UUIDS = pa.uuid()
FIXED = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
    pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal32(7, 2), pa.decimal64(15, 2),
    pa.decimal128(38, 3), pa.decimal256(60, 3), pa.date32(), pa.date64(), pa.time32("s"),
    pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("s"), pa.timestamp("us", "UTC"),
    pa.timestamp("ns", "Europe/Berlin"), pa.duration("ms"), pa.month_day_nano_interval(),
]  # fmt: skip
BYTES = [
    pa.binary(), pa.string(), pa.large_binary(), pa.large_string(), pa.binary_view(), pa.string_view(),
    pa.binary(5),
]  # fmt: skip
KEPT = [
    pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.uint32(), pa.int64(), ordered=True),
    pa.dictionary(pa.int16(), pa.large_binary(), ordered=True), pa.run_end_encoded(pa.int32(), pa.int64()),
    UUIDS, pa.json_(), pa.bool8(), pa.null(),
]  # fmt: skip
NESTED = [
    pa.list_(pa.int16()), pa.large_list(pa.string()), pa.list_view(pa.bool_()),
    pa.large_list_view(pa.binary()), pa.list_(pa.string_view()), pa.list_(pa.float64(), 3),
    pa.list_(pa.int8(), 0), pa.map_(pa.string(), pa.decimal128(9, 2)), pa.list_(pa.null()),
    pa.list_(pa.list_(pa.list_(pa.string()))), pa.struct([]),
    pa.struct([
        pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.large_string(), metadata={"k": "v"}),
        ("c", pa.list_(pa.struct([("x", pa.date32()), ("y", pa.binary_view())]))), ("d", UUIDS),
        ("e", pa.dictionary(pa.int8(), pa.string())), ("f", pa.binary(3)), ("g", pa.binary(0)),
        ("h", pa.map_(pa.int8(), pa.list_(pa.bool_(), 2))), ("i", pa.timestamp("us", "Asia/Tokyo")),
    ]),
]  # fmt: skip
KINDS = FIXED + BYTES + KEPT + NESTED


def array_of(draw, kind, rows, nullable=True):
    """Random values of a type, every bit pattern of those of a fixed width."""
    if pa.types.is_null(kind):
        return pa.nulls(rows)
    mask = numpy.array([nullable and draw.random() < 0.25 for _ in range(rows)], bool)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, array_of(draw, kind.storage_type, rows))
    if pa.types.is_dictionary(kind):
        names = [b"z", b"a", b"m"] if pa.types.is_large_binary(kind.value_type) else [9, 1, 5]
        names = ["z", "a", "m"] if pa.types.is_string(kind.value_type) else names
        places = pa.array([draw.randrange(3) for _ in range(rows)], kind.index_type, mask=mask)
        return pa.DictionaryArray.from_arrays(places, pa.array(names, kind.value_type), ordered=kind.ordered)
    if pa.types.is_run_end_encoded(kind):
        values = pa.array([draw.choice([1, 2, None]) for _ in range(rows)], kind.value_type)
        return pa.compute.run_end_encode(values, run_end_type=kind.run_end_type)
    valid = pa.py_buffer(numpy.packbits(~mask, bitorder="little")) if mask.any() else None
    if pa.types.is_boolean(kind):
        return pa.array([draw.random() < 0.5 for _ in range(rows)], kind, mask=mask)
    if pa.types.is_decimal(kind):
        top = 10 ** (kind.precision - kind.scale)
        values = [decimal.Decimal(draw.randrange(-top, top)) for _ in range(rows)]
        return pa.array([None if no else value for value, no in zip(values, mask)], kind)
    if pa.types.is_temporal(kind) and kind.bit_width <= 64:
        # What Python's types can hold.
        step = 86_400_000 if pa.types.is_date64(kind) else 1
        top = 30_000 * step if pa.types.is_date(kind) else 80_000 if pa.types.is_time(kind) else 2**31
        data = numpy.array([draw.randrange(0, top, step) for _ in range(rows)], f"i{kind.bit_width // 8}")
        return pa.Array.from_buffers(kind, rows, [valid, pa.py_buffer(data)])
    if _types.width(kind):
        data = pa.py_buffer(draw.randbytes(rows * kind.bit_width // 8))
        return pa.Array.from_buffers(kind, rows, [valid, data])
    if pa.types.is_fixed_size_binary(kind):
        data = pa.py_buffer(draw.randbytes(rows * kind.byte_width))
        return pa.Array.from_buffers(kind, rows, [valid, data])
    if _types.is_bytes(kind):
        texts = ["".join(draw.choices("abcö€", k=draw.choice([0, 1, 12, 13, 40]))) for _ in range(rows)]
        values = texts if "string" in str(kind) else [text.encode() + b"\xff" for text in texts]
        return pa.array([None if no else value for value, no in zip(values, mask)], kind)
    if pa.types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        children = [array_of(draw, field.type, rows, field.nullable) for field in fields]
        return pa.Array.from_buffers(kind, rows, [valid], children=children)
    if pa.types.is_fixed_size_list(kind):
        children = [array_of(draw, kind.value_type, rows * kind.list_size)]
        return pa.Array.from_buffers(kind, rows, [valid], children=children)
    # NULLs, too, have elements, which must not be taken.
    lengths = [draw.choice([0, 0, 1, 2, 5]) for _ in range(rows)]
    offsets = [0, *itertools.accumulate(lengths)]
    if pa.types.is_map(kind):
        entries = pa.struct([kind.key_field, kind.item_field])
        children = [
            array_of(draw, kind.key_type, offsets[-1], False), array_of(draw, kind.item_type, offsets[-1])
        ]
        child = pa.Array.from_buffers(entries, offsets[-1], [None], children=children)
    else:
        child = array_of(draw, kind.value_type, offsets[-1])
    width = "i8" if "large" in str(kind)[:5] else "i4"
    buffers = [valid, pa.py_buffer(numpy.array(offsets, width))]
    if "view" in str(kind).partition("<")[0]:
        numbers = (offsets[:-1], lengths)
        buffers = [valid, *(pa.py_buffer(numpy.array(those, width)) for those in numbers)]
    return pa.Array.from_buffers(kind, rows, buffers, children=[child])


def raw(array):
    """All that two equal columns have in common; bits of NaN included."""
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in raw(chunk)]
    while not _types.is_bytes(array.type):
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif isinstance(array, pa.DictionaryArray):
            array = array.dictionary_decode()
        elif pa.types.is_run_end_encoded(array.type):
            array = pa.compute.run_end_decode(array)
        elif _types.width(array.type) and not pa.types.is_boolean(array.type):
            width = pa.binary(array.type.bit_width // 8)
            array = pa.Array.from_buffers(width, len(array), array.buffers()[:2], offset=array.offset)
        else:
            break
    return [repr(value) for value in array.to_pylist()]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind)[:40])
def test_every_type_there_and_back(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("lanecrypt._types._ROWS", 128)
    draw = random.Random(str(kind))
    whole = array_of(draw, kind, 300)
    whole.validate(full=True)
    # Views cannot be taken by pyarrow.
    has_take = "view" not in str(kind) and not pa.types.is_run_end_encoded(kind)
    rings = [columns.Keyring(layout) for layout in columns.LAYOUTS]
    nulls = whole.take(pa.array([None] * 3, "int8")) if has_take else whole
    pieces = pa.chunked_array([whole.slice(1, 7), whole.slice(0, 0), array_of(draw, kind, 50)], kind)
    for number, values in enumerate((
        whole, whole.slice(13, 200), whole.slice(299), whole.slice(5, 0), pieces,
        pa.chunked_array([], kind), nulls,
    )):
        ring = rings[number % len(rings)]
        field = pa.field("v", kind, metadata={"pii": "yes"})
        ids = pa.array(range(len(values)), pa.int64())
        table = pa.table([ids, values], schema=pa.schema([pa.field("id", pa.int64()), field]))
        sealed = columns.encrypt_table(table, {"v": ring}, rows="id")
        assert _types.is_bytes(sealed.schema.field("v").type)
        assert sealed["v"].null_count == raw(table["v"]).count("None")
        old = ring.primary
        ring.set_primary(ring.add())
        moved, counts = columns.rekey_table(sealed, ring)
        assert counts["v"].moved == len(values) - sealed["v"].null_count
        ring.remove(old)
        pq.write_table(moved, tmp_path / "t.parquet")
        pa.feather.write_feather(moved, tmp_path / "t.arrow")
        of_ipc = pa.feather.read_table(tmp_path / "t.arrow")
        for found in (moved, pq.read_table(tmp_path / "t.parquet"), of_ipc):
            back = columns.decrypt_table(found, ring)
            back.validate(full=True)
            assert back.schema.equals(table.schema, check_metadata=True)
            assert raw(back["v"]) == raw(table["v"])
            if pa.types.is_dictionary(kind) and kind.ordered and len(values):
                dictionary = back["v"].chunk(0).dictionary.to_pylist()
                assert dictionary == table["v"].chunk(0).dictionary.to_pylist()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind)[:40])
def test_an_encoding_for_each_value_and_no_other(kind):
    draw = random.Random(f"encodings {kind}")
    array = array_of(draw, kind, 200)
    cells = _types.to_bytes(array)
    cells = cells.cast("binary") if "string" in str(cells.type) else cells
    by_value = {}
    for value, cell in zip(raw(array), cells.to_pylist(), strict=True):
        assert (value == "None") is (cell is None)
        assert by_value.setdefault(value, cell) == cell
    assert len(set(by_value.values())) == len(by_value)
    # Whatever else is read as values has the same bytes when it is written again.
    is_nested = pa.types.is_nested(_types.values_type(kind))
    for cell in filter(None, cells.to_pylist()[:60]):
        for _ in range(10):
            changed = bytearray(cell)
            changed[draw.randrange(len(cell))] = draw.choice([0, 1, 2, 255])
            changed = bytes(changed[: draw.choice([len(cell), len(cell), draw.randrange(len(cell) + 1)])])
            try:
                made = _types.from_bytes(pa.array([None, changed], pa.binary()), kind)
            except ValueError:
                continue
            made.validate()
            again = _types.to_bytes(made)[1].as_py()
            assert (again.encode() if isinstance(again, str) else again) == changed
        if is_nested:
            for wrong in (cell + b"\0", cell[:-1]):
                with pytest.raises(ValueError, match="^row 1: no encoding of"):
                    _types.from_bytes(pa.array([None, wrong]), kind)


def test_encodings_as_they_are_written_down():
    def bytes_of(value, kind):
        return _types.to_bytes(pa.array([value], kind))[0].as_py()

    assert bytes_of(-2, pa.int32()) == struct.pack("<i", -2)
    assert bytes_of(-0.0, pa.float64()) == struct.pack("<d", -0.0) != bytes_of(0.0, pa.float64())
    assert bytes_of(True, pa.bool_()) == b"\1"
    assert bytes_of(decimal.Decimal("1.25"), pa.decimal128(10, 2)) == (125).to_bytes(16, "little")
    assert bytes_of([7, None, 9], pa.list_(pa.int16())).hex() == "03000000" "010001" "0700" "0900"
    kind = pa.struct([("name", pa.string()), ("tags", pa.list_(pa.string())), ("age", pa.int8())])
    assert bytes_of({"name": "Jo", "tags": ["a", None, "bc"], "age": None}, kind).hex() == (
        "01" "02000000" "4a6f" "01" "03000000" "010001" "01000000" "02000000" "616263" "00"
    )
    assert bytes_of([("k", 1)], pa.map_(pa.string(), pa.int8())).hex() == (
        "01000000" "01" "01000000" "6b" "01" "01"
    )
    # As another implementation opens them.
    key = bytes(range(64))
    table = pa.table({"n": pa.array([5], pa.int64())})
    cell = columns.encrypt_table(table, {"n": columns.Key(key, "deterministic")})["n"][0].as_py()
    bound = b'lanecrypt.type\0' + (3).to_bytes(4, "big") + b'"l"' + b"n"
    assert AESSIV(key).decrypt(cell, [bound]) == (5).to_bytes(8, "little")


def test_descriptions_say_how_values_are_read():
    seen = {}
    for kind in KINDS:
        seen.setdefault(repr(_types.description(kind)), []).append(kind)
    same = [kinds for kinds in seen.values() if len(kinds) > 1]
    # Kinds of bytes, of text and of lists; dictionaries and runs.
    assert sorted(len(kinds) for kinds in same) == [2, 3, 4, 4]
    assert {str(kind).partition("<")[0] for kinds in same for kind in kinds} == {
        "int64", "run_end_encoded", "dictionary", "list", "large_list", "binary",
        "large_binary", "binary_view", "string", "large_string", "string_view",
    }  # fmt: skip
    assert _types.description(pa.timestamp("us", "UTC")) == "tsu:UTC"
    assert _types.description(pa.struct([("a", pa.large_list(pa.int8()))])) == ["+s", ["a", ["+l", "c"]]]
    with pytest.raises(TypeError, match="there is no encoding"):
        _types.description(pa.dense_union([pa.field("a", pa.int8())]))


def test_changed_metadata_is_refused_or_harmless():
    ring = columns.Keyring()
    kinds = [
        pa.int64(), pa.uint64(), pa.float64(), pa.timestamp("us"), pa.timestamp("ns"),
        pa.timestamp("us", "UTC"), pa.duration("us"), pa.time64("us"), pa.binary(8), pa.binary(),
        pa.string(), pa.int32(), pa.bool_(),
        pa.decimal64(10, 2), pa.decimal64(10, 3), pa.list_(pa.int32(), 2), pa.list_(pa.int32()),
        pa.struct([("a", pa.int64())]), pa.struct([("b", pa.int64())]), UUIDS, pa.binary(16), pa.null(),
    ]  # fmt: skip
    for kind in kinds:
        table = pa.table({"v": array_of(random.Random(1), kind, 20)})
        sealed = columns.encrypt_table(table, {"v": ring})
        field = sealed.schema.field("v")
        for other in kinds:
            name, whole = _types.to_texts(other)
            metadata = {**field.metadata, b"lanecrypt.type": name.encode()}
            metadata.pop(b"lanecrypt.schema", None)
            if whole is not None:
                metadata[b"lanecrypt.schema"] = whole.encode()
            lied = sealed.set_column(0, field.with_metadata(metadata), sealed["v"])
            if other == kind:
                assert raw(columns.decrypt_table(lied, ring)["v"]) == raw(table["v"])
            elif pa.types.is_null(kind):
                assert columns.decrypt_table(lied, ring)["v"].null_count == 20
            elif _types.is_bytes(kind) and _types.is_bytes(other):
                try:
                    back = columns.decrypt_table(lied, ring)["v"].cast("binary")
                    assert back == table["v"].cast("binary")
                except ValueError as error:
                    assert "column 'v'" in str(error)
            else:
                with pytest.raises((lanecrypt.InvalidTag, ValueError), match="column 'v'"):
                    columns.decrypt_table(lied, ring)
                with pytest.raises(ValueError, match="column 'v' was of"):
                    columns.decrypt_table(sealed, {"v": ring}, types={"v": other})


class Money(pa.ExtensionType):
    """A type of a user's own."""

    def __init__(self, currency="EUR"):
        self.currency = currency
        super().__init__(pa.int64(), "tests.money")

    def __arrow_ext_serialize__(self):
        return self.currency.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls(serialized.decode())


def test_extension_types_that_the_reader_does_not_know(tmp_path):
    ring = columns.Keyring("deterministic")
    pay = pa.ExtensionArray.from_storage(Money(), pa.array([5, None, 7]))
    lists = pa.ListArray.from_arrays([0, 1, 3], pay)
    table = pa.table({"pay": pay, "all": pa.array([None, None, None]).cast(lists.type)})
    table = table.set_column(1, "all", pa.chunked_array([lists, lists.slice(0, 1)]))
    sealed = columns.encrypt_table(table, {"pay": ring, "all": ring})
    pq.write_table(sealed, tmp_path / "sealed.parquet")

    # Without the type: its storage, which says what it is.
    sealed = pq.read_table(tmp_path / "sealed.parquet")
    bare = columns.decrypt_table(sealed, ring)
    assert bare["pay"].type == pa.int64() and bare["pay"].to_pylist() == [5, None, 7]
    assert bare.schema.field("pay").metadata == {
        b"ARROW:extension:name": b"tests.money", b"ARROW:extension:metadata": b"EUR",
    }  # fmt: skip
    # Encrypted again without the type, the cells are the same.
    again = columns.encrypt_table(bare, {"pay": ring, "all": ring})
    assert again["pay"] == sealed["pay"] and again["all"] == sealed["all"]
    assert not any(key.startswith(b"ARROW") for key in again.schema.field("pay").metadata)
    pq.write_table(bare, tmp_path / "bare.parquet")

    pa.register_extension_type(Money())
    try:
        assert columns.decrypt_table(sealed, ring) == table
        assert columns.decrypt_table(again, ring) == table
        assert pq.read_table(tmp_path / "bare.parquet")["pay"].type == Money()
        dollars = pa.field("", Money("USD"))
        text = base64.b64encode(pa.schema([dollars]).serialize()).decode()
        field = sealed.schema.field("pay")
        lied = field.with_metadata({**field.metadata, b"lanecrypt.schema": text})
        with pytest.raises(lanecrypt.InvalidTag, match="another type"):
            columns.decrypt_table(sealed.set_column(0, lied, sealed["pay"]), ring)
    finally:
        pa.unregister_extension_type("tests.money")


def test_dictionaries_in_metadata_are_authentic():
    ring = columns.Keyring()
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    sizes = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), ["low", "high"], ordered=True)
    others = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), ["x", "y"], ordered=True)
    table = pa.table({"size": sizes, "other": others})
    sealed = columns.encrypt_table(table, {"size": ring, "other": ring})
    assert b"low" not in base64.b64decode(sealed.schema.field("size").metadata[b"lanecrypt.dictionary"])
    back = columns.decrypt_table(sealed, ring)
    assert back == table and back["size"].type == kind
    assert back["size"].chunk(0).dictionary.to_pylist() == ["low", "high"]
    field, other = sealed.schema.field("size"), sealed.schema.field("other")
    cell = bytearray(base64.b64decode(field.metadata[b"lanecrypt.dictionary"]))
    cell[-1] ^= 1
    for text in (base64.b64encode(cell), other.metadata[b"lanecrypt.dictionary"], b"", b"%"):
        lied = field.with_metadata({**field.metadata, b"lanecrypt.dictionary": text})
        with pytest.raises((lanecrypt.InvalidTag, ValueError), match="column 'size'"):
            columns.decrypt_table(sealed.set_column(0, lied, sealed["size"]), ring)
    # Of an earlier version of the column, which had other values.
    earlier = columns.encrypt_table(pa.table({"size": others}), {"size": ring}).schema.field("size")
    with pytest.raises(ValueError, match="column 'size': the dictionary in the metadata is that of other"):
        columns.decrypt_table(sealed.set_column(0, earlier, sealed["size"]), ring)
    ring.set_primary(ring.add())
    moved = columns.rekey_table(sealed, ring)[0]
    ring.remove(ring.keys[0][0])
    assert columns.decrypt_table(moved, ring) == table
    batch = table.to_batches()[0]
    assert columns.decrypt_table(columns.encrypt_table(batch, {"size": ring}), ring) == batch


@pytest.mark.parametrize("kind", [pa.int64(), pa.bool_(), UUIDS, *NESTED[:3], KEPT[0]], ids=str)
def test_cells_that_are_not_authentic_become_null(kind):
    ring = columns.Keyring()
    values = array_of(random.Random(1), kind, 20).drop_null()
    ids = pa.array(range(len(values)))
    table = pa.table({"id": ids, "v": values})
    sealed = columns.encrypt_table(table, {"v": ring}, rows="id")
    cells = sealed["v"].to_pylist()
    cells[2] = cells[3]
    cells[5] = cells[5][:-1] + bytes([cells[5][-1] ^ 1])
    field = sealed.schema.field("v")
    sealed = sealed.set_column(1, field, pa.array(cells, field.type))
    with pytest.raises(lanecrypt.InvalidTag, match="^column 'v', row 2: "):
        columns.decrypt_table(sealed, ring)
    back = columns.decrypt_table(sealed, ring, on_error="null")
    assert ring.forged == 2 and back["v"].type == kind
    expected = ["None" if row in (2, 5) else value for row, value in enumerate(raw(values))]
    assert raw(back["v"]) == expected


def test_single_columns():
    key = columns.Key(bytes(32))
    ids = pa.array([1, None, 3])
    cells = columns.encrypt(ids, key, type="int64", context="c")
    assert cells.type == pa.binary(36)
    assert columns.decrypt(cells, key, type=pa.int64(), context="c") == ids
    assert columns.decrypt(cells.cast("binary").cast("large_binary"), key, type="int64", context="c") == ids
    small = columns.encrypt(ids, key, type=pa.int16())
    assert columns.decrypt(small, key, type="int16") == ids.cast("int16")
    with pytest.raises(lanecrypt.InvalidTag, match="layout, another type, a missing context or missing rows"):
        columns.decrypt(cells, key, type="uint64")
    with pytest.raises(ValueError):
        columns.encrypt(pa.array([1000]), key, type="int8")
    with pytest.raises(TypeError, match="a type of pyarrow or polars"):
        columns.encrypt(ids, key, type=int)
    with pytest.raises(ValueError, match="a context does not begin"):
        columns.encrypt(pa.array(["a"]), key, context="lanecrypt.type\0")
    ring = columns.Keyring()
    moved = columns.rekey(columns.encrypt(ids, ring, type="int64"), ring, type="int64")
    assert moved[1:] == (2, 0, 0, 0)
    assert columns.rekey(moved.cells, ring)[1:] == (0, 0, 0, 2)


def test_the_length_of_a_cell_says_that_the_type_is_another():
    ring = columns.Keyring()
    sealed = columns.encrypt_table(pa.table({"a": [1, 2], "b": [[1], None]}), {"a": ring, "b": ring})
    field = sealed.schema.field("a").with_type(sealed["b"].type)
    swapped = sealed.set_column(0, field, sealed["b"])
    with pytest.raises(lanecrypt.InvalidTag, match="row 0: .* it has 46 bytes, a cell of int64 has 41$"):
        columns.decrypt_table(swapped, ring)
    cells = columns.encrypt(pa.array([b"x"]), ring, type=pa.binary())
    with pytest.raises(lanecrypt.InvalidTag):
        columns.decrypt(cells, ring, type=pa.bool_())


def test_hostile_encodings():
    lists = pa.list_(pa.int16())
    for wrong in ("", "01", "01000000", "0100000002", "ffffffff", "ffffffff" + "01" * 9, "010000000107"):
        with pytest.raises(ValueError, match="^row 1: no encoding of list<"):
            _types.from_bytes(pa.array([bytes(4), bytes.fromhex(wrong)]), lists)
    with pytest.raises(ValueError, match="0 or 1"):
        _types.from_bytes(pa.array([b"\2"]), pa.bool_())
    with pytest.raises(ValueError, match="UTF8"):
        _types.from_bytes(pa.array([bytes.fromhex("010000000101000000ff")]), pa.list_(pa.string()))
    for kind in (pa.int64(), pa.decimal256(40, 2), UUIDS):
        with pytest.raises(ValueError):
            _types.from_bytes(pa.array([b"short", None]), kind)
    with pytest.raises(ValueError):
        _types.from_bytes(pa.array([b""]), pa.null())


def test_floats_keep_their_bits():
    patterns = numpy.array([0x7FF8000000000001, 0xFFF0000000000002, 0x8000000000000000, 0], "u8")
    floats = pa.array(patterns.view("f8"))
    key = columns.Key(bytes(32), "deterministic")
    cells = columns.encrypt(floats, key, type="double")
    assert len(set(cells.to_pylist())) == 4
    back = columns.decrypt(cells, key, type="double")
    assert back.to_numpy().view("u8").tolist() == patterns.tolist()
    assert math.isnan(back[0].as_py())


def test_progress(monkeypatch, capsys):
    monkeypatch.setattr("lanecrypt._column.STEP", 100)
    ring, draw = columns.Keyring(), random.Random(5)
    whole = array_of(draw, NESTED[-1], 1000)
    table = pa.table({"id": range(1000), "v": pa.chunked_array([whole[:333], whole[333:]]), "w": range(1000)})
    calls = []
    report = lambda done, total: calls.append((done, total))
    sealed = columns.encrypt_table(table, {"v": ring, "w": ring}, rows="id", progress=report)
    assert calls == sorted(set(calls)) and calls[0] == (100, 2000) and calls[-1] == (2000, 2000)
    calls.clear()
    back = columns.decrypt_table(sealed, ring, progress=report)
    assert raw(back["v"]) == raw(table["v"]) and back["w"] == table["w"]
    assert calls[-1] == (2000, 2000) and len(calls) > 20
    assert columns.rekey_table(sealed, ring, progress=report)[1]["w"].kept == 1000

    cells = columns.encrypt(table["w"].chunk(0), ring, type="int64", progress=report)
    broken = pa.array([*cells.to_pylist()[:777], bytes(41), *cells.to_pylist()[778:]])
    with pytest.raises(lanecrypt.InvalidTag, match="^row 777: "):
        columns.decrypt(broken, ring, type="int64", progress=report)
    assert columns.decrypt(cells, ring, type="int64", progress=report) == table["w"].chunk(0)

    monkeypatch.setitem(sys.modules, "tqdm", None)
    columns.encrypt_table(table, {"w": ring}, progress=True)
    assert capsys.readouterr().err.splitlines()[-1] == "encrypt: 1,000 of 1,000 rows"

    class Bar:
        n = 0

        def __init__(self, **options):
            assert options["total"] == 1000
            Bar.made = self

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.closed = True

        def update(self, more):
            self.n += more

    monkeypatch.setitem(sys.modules, "tqdm", modules.SimpleNamespace(tqdm=Bar))
    columns.encrypt_table(table, {"w": ring}, progress=True)
    assert Bar.made.n == 1000 and Bar.made.closed and capsys.readouterr().err == ""
