"""Columns of every kind and package, there and back; cells of others; what is refused."""

import os
import random

import numpy
import pandas
import polars
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import aead as theirs

import lanecrypt
from lanecrypt import columns

LAYOUTS = [
    ("aes_gcm_siv", 16), ("aes_gcm_siv", 32), ("aes_gcm", 16), ("aes_gcm", 24), ("aes_gcm", 32),
    ("chacha20_poly1305", 32), ("deterministic", 32), ("deterministic", 48), ("deterministic", 64),
]
KINDS = [
    pa.binary(), pa.string(), pa.large_binary(), pa.large_string(), pa.binary_view(),
    pa.string_view(), pa.binary(5),
]
CIPHERS = {
    "aes_gcm_siv": theirs.AESGCMSIV, "aes_gcm": theirs.AESGCM,
    "chacha20_poly1305": theirs.ChaCha20Poly1305, "deterministic": theirs.AESSIV,
}


def sealed(cipher, value, aad):
    """A cell by another implementation."""
    if isinstance(cipher, theirs.AESSIV):
        return cipher.encrypt(value, [aad] if aad else None)
    nonce = os.urandom(12)
    return nonce + cipher.encrypt(nonce, value, aad)


def opened(cipher, cell, aad):
    if isinstance(cipher, theirs.AESSIV):
        return cipher.decrypt(cell, [aad] if aad else None)
    return cipher.decrypt(cell[:12], cell[12:], aad)


class Raw:
    """An object that has Arrow's interface and nothing else."""

    def __init__(self, array):
        if isinstance(array, pa.ChunkedArray):
            self.__class__ = RawStream
        self.array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


class RawStream:
    def __arrow_c_stream__(self, requested_schema=None):
        return self.array.__arrow_c_stream__(requested_schema)


def values(draw, kind, rows):
    """Random values of a kind, with NULLs and values of every length."""
    for _ in range(rows):
        if draw.random() < 0.2:
            yield None
        elif pa.types.is_fixed_size_binary(kind):
            yield draw.randbytes(kind.byte_width)
        else:
            text = "".join(draw.choices("abcdefgöß€", k=draw.choice([0, 1, 3, 12, 13, 30, 200])))
            yield text if "string" in str(kind) else text.encode()


def as_bytes(column):
    plain = column.to_pylist()
    return [value.encode() if isinstance(value, str) else value for value in plain]


def arrays(draw, kind):
    """Arrays, slices and chunked arrays of a kind."""
    for rows in (0, 1, 2, 17, 300, 1000):
        array = pa.array(list(values(draw, kind, rows)), kind)
        yield array
        yield array.slice(rows // 3, rows // 2)
        yield pa.chunked_array([array, array.slice(rows // 2), array.slice(0, 0)], kind)
    yield pa.array([None] * 9, kind)
    yield pa.chunked_array([], kind)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(("layout", "key_length"), LAYOUTS)
def test_every_kind_there_and_back(kind, layout, key_length):
    draw = random.Random(f"{kind} {layout} {key_length}")
    key = draw.randbytes(key_length)
    cipher = CIPHERS[layout](key)
    text = "string" in str(kind)
    for column in arrays(draw, kind):
        plain = as_bytes(column)
        ids = pa.array(range(len(column)), pa.int32())
        for context, rows in ((b"", None), ("people.name", None), (b"t", ids)):
            options = {"layout": layout, "context": context, "rows": rows}
            cells = columns.encrypt(column, key, **options)
            assert type(cells).__mro__[1] == type(column).__mro__[1] or type(cells) is type(column)
            cells.validate(full=True)
            assert len(cells) == len(column) and cells.null_count == column.null_count

            # As another implementation opens them.
            given = context.encode() if isinstance(context, str) else context
            for row, (cell, value) in enumerate(zip(cells.to_pylist(), plain, strict=True)):
                if value is None:
                    assert cell is None
                    continue
                aad = given
                if rows is not None:
                    aad = len(given).to_bytes(4, "big") + given + row.to_bytes(4, "little")
                assert opened(cipher, cell, aad) == value

            back = columns.decrypt(cells, key, text=text, threads=2, **options)
            back.validate(full=True)
            assert as_bytes(back) == plain
            assert text is False or str(back.type) in ("string", "large_string") or kind == pa.binary(5)


@pytest.mark.parametrize(("layout", "key_length"), LAYOUTS)
def test_cells_of_others_and_changed_ones(layout, key_length):
    key = os.urandom(key_length)
    cipher = CIPHERS[layout](key)
    plain = [os.urandom(size) for size in (1, 5, 16, 100, 1000)]
    cells = [sealed(cipher, value, b"c") for value in plain]
    options = {"layout": layout, "context": b"c"}
    assert columns.decrypt(pa.array(cells), key, **options).to_pylist() == plain
    kept = columns.Key(key, layout)

    for row, cell in enumerate(cells):
        for at in {0, 11, 12, len(cell) - 17, len(cell) - 1} & set(range(len(cell))):
            changed = bytearray(cell)
            changed[at] ^= 4
            wrong = pa.chunked_array([cells[:row], [bytes(changed)], cells[row + 1 :]], pa.binary())
            with pytest.raises(lanecrypt.InvalidTag, match=f"^row {row}: "):
                columns.decrypt(wrong, key, **options)
            failed = kept.failed
            nulls = columns.decrypt(wrong, kept, on_error="null", **options)
            assert nulls.to_pylist() == plain[:row] + [None] + plain[row + 1 :]
            assert kept.failed == failed + 1
    for short in (b"", bytes(15), bytes(16), bytes(27), bytes(28)):
        with pytest.raises(lanecrypt.InvalidTag):
            columns.decrypt(pa.array([short]), key, **options)


def test_cells_that_were_moved():
    key = columns.Key(bytes(32), "aes_gcm")
    names, ids = pa.array(["a", "b", "c"]), pa.array([b"x", b"yy", b""])
    cells = columns.encrypt(names, key, context="t", rows=ids)
    assert columns.decrypt(cells, key, context="t", rows=ids, text=True) == names
    for others in (
        {"context": "u", "rows": ids}, {"context": "t"}, {"rows": ids},
        {"context": "t", "rows": ids.take([1, 0, 2])}, {"context": "tx", "rows": ids},
    ):
        with pytest.raises(lanecrypt.InvalidTag):
            columns.decrypt(cells, key, **others)
    assert key.used == 3 and key.layout == "aes_gcm"


def test_rows_in_other_chunks():
    key, plain = bytes(16), [str(number) for number in range(100)]
    column = pa.chunked_array([plain[:30], plain[30:60], plain[60:]])
    for ids in (
        pa.array(range(100)), pa.chunked_array([range(50), range(50, 100)], pa.int64()),
        polars.Series(range(100)), Raw(pa.chunked_array([range(99), [99]], pa.int64())),
    ):
        cells = columns.encrypt(column, key, rows=ids)
        for other in (pa.array(range(100)), ids):
            back = columns.decrypt(pa.array(cells.to_pylist()), key, rows=other, text=True)
            assert back.to_pylist() == plain


def test_threads_make_the_same():
    key = columns.Key(bytes(16), "aes_gcm")
    array = pa.array([os.urandom(index % 90) for index in range(100_000)])
    for threads in (0, 1, 2, 3, 64):
        cells = columns.encrypt(array, key, threads=threads)
        assert columns.decrypt(cells, key, threads=threads) == array
    assert len(set(cell[:12] for cell in cells.to_pylist())) == 100_000


def test_polars():
    key = bytes(32)
    for plain in (["a", None, "more than twelve"], [b"a", None, b"more than twelve"]):
        series = polars.Series("name", plain)
        cells = columns.encrypt(series, key, context="c")
        assert isinstance(cells, polars.Series) and cells.name == "name"
        assert cells.dtype == polars.Binary and cells.null_count() == 1
        back = columns.decrypt(cells, key, context="c", text=isinstance(plain[0], str))
        assert back.to_list() == plain and back.dtype == series.dtype
    frame = polars.DataFrame({"name": ["x", "y"]})
    back = columns.decrypt(columns.encrypt(frame, key), key, text=True)
    assert back.to_list() == ["x", "y"] and back.name == "name"


def test_pandas():
    key = bytes(32)
    for series in (
        pandas.Series(["a", None, "b"], index=[3, 1, 2], name="n"),
        pandas.Series([b"a", None, b"b"], index=[3, 1, 2], name="n"),
        pandas.Series(["a", None, "b"], dtype="string[pyarrow]", index=[3, 1, 2], name="n"),
        pandas.Series([b"a", None, b"b"], dtype=pandas.ArrowDtype(pa.binary()), index=[3, 1, 2]),
    ):
        cells = columns.encrypt(series, key)
        assert isinstance(cells, pandas.Series) and list(cells.index) == [3, 1, 2]
        assert cells.name == series.name
        back = columns.decrypt(cells, key, text=isinstance(series[3], str))
        assert back.dropna().tolist() == series.dropna().tolist() and back.isna()[1]


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select case when i % 7 > 0 then 'v' || i end as v from range(5000) t(i)")
    plain = [row[0] for row in relation.fetchall()]
    key = bytes(32)
    cells = columns.encrypt(relation, key, context="v")
    assert isinstance(cells, columns.ChunkedArray) and len(cells) == 5000
    sealed = pa.table({"cells": pa.chunked_array(cells)})
    back = columns.decrypt(duckdb.sql("select cells from sealed"), key, context="v", text=True)
    assert pa.chunked_array(back).to_pylist() == plain
    with pytest.raises(TypeError, match="a table of 2 columns"):
        columns.encrypt(duckdb.sql("select cells, 1 from sealed"), key)
    assert sealed.num_rows == 5000


def test_objects_with_nothing_but_the_interface():
    key = bytes(16)
    made = columns.encrypt(Raw(pa.array(["a", None])), key)
    assert isinstance(made, columns.Array) and len(made) == 2 and made.null_count == 1
    assert "2 Binary" in repr(made)
    back = columns.decrypt(made, key, text=True)
    assert pa.array(back).to_pylist() == ["a", None]
    made = columns.encrypt(Raw(pa.chunked_array([["a"], [None, "b"]])), key)
    assert isinstance(made, columns.ChunkedArray) and len(made) == 3 and made.null_count == 1
    assert pa.chunked_array(columns.decrypt(made, key, text=True)).to_pylist() == ["a", None, "b"]
    assert polars.Series(made).len() == 3


HOSTILE = [
    (pa.binary(), "i4", [0, 3, 2, 4]), (pa.binary(), "i4", [0, 99, 2, 4]),
    (pa.binary(), "i4", [0, -1, 2, 4]), (pa.binary(), "i4", [-1, 1, 2, 4]),
    (pa.binary(), "i4", [0, 1, 2, -1]), (pa.binary(), "i4", [0, 1, 2**31 - 1, -(2**31)]),
    (pa.string(), "i4", [0, 99, 2, 4]), (pa.string(), "i4", [0, 1, 2, -1]),
    (pa.large_binary(), "i8", [0, 2**62, 2, 4]), (pa.large_binary(), "i8", [0, 2, 1, -1]),
    (pa.large_string(), "i8", [0, -5, 2, 4]), (pa.large_string(), "i8", [0, 2, 1, -(2**63)]),
]


@pytest.mark.parametrize(("kind", "width", "offsets"), HOSTILE)
def test_offsets_that_lie(kind, width, offsets):
    memory = numpy.array([0, 1, 2, 4], width)
    array = pa.Array.from_buffers(kind, 3, [None, pa.py_buffer(memory), pa.py_buffer(b"data")])
    memory[:] = offsets
    good = pa.array(["a", "b", "c"])
    for column in (array, Raw(array), Raw(pa.chunked_array([good.cast(kind), array]))):
        for act in (columns.encrypt, columns.decrypt):
            with pytest.raises((ValueError, lanecrypt.InvalidTag)):
                act(column, bytes(16))
        if not isinstance(column, pa.Array):
            ids = Raw(array) if isinstance(column, Raw) else column
            rows = good if isinstance(ids, Raw) else pa.chunked_array([good, good])
            with pytest.raises(ValueError):
                columns.encrypt(rows, bytes(16), rows=ids)


def test_views_that_lie():
    long = numpy.array([13, 0, 0, 0], "i4")
    for word, wrong in ((0, -1), (0, 2**31 - 1), (2, 7), (2, -1), (3, 10), (3, -1)):
        view = long.copy()
        view[word] = wrong
        memory = long.copy()
        buffers = [None, pa.py_buffer(memory), pa.py_buffer(b"thirteen byte")]
        array = pa.Array.from_buffers(pa.binary_view(), 1, buffers)
        memory[:] = view
        for column in (array, Raw(array)):
            with pytest.raises(ValueError):
                columns.encrypt(column, bytes(16))


def test_refusals():
    key, good = bytes(16), pa.array([b"a", b"b"])
    for wrong in (None, 5, "text", [b"a"], {"a": 1}, object(), numpy.zeros(3)):
        with pytest.raises(TypeError, match="is not a column"):
            columns.encrypt(wrong, key)
    for array in (pa.array([1]), pa.array([1.5]), pa.array([[b"a"]]), pa.nulls(3), pa.array([True])):
        with pytest.raises(TypeError, match="cast it to bytes or text"):
            columns.encrypt(array, key)
    for rows, error in (
        (pa.array([1]), ValueError), (pa.array([1, None]), ValueError),
        (pa.array([[1], [2]]), TypeError), (pa.array([True, False]), TypeError), ([1, 2], TypeError),
    ):
        with pytest.raises(error):
            columns.encrypt(good, key, rows=rows)
    for arguments, error in (
        ({"layout": "nothing"}, ValueError), ({"context": 5}, TypeError), ({"threads": -1}, OverflowError),
        ({"on_error": "ignore"}, ValueError), ({"layout": "chacha20_poly1305"}, ValueError),
    ):
        with pytest.raises(error):
            columns.decrypt(good, key, **arguments)
    for length in (0, 15, 17, 24, 33):
        with pytest.raises(ValueError):
            columns.encrypt(good, bytes(length))
    with pytest.raises(ValueError, match="a key for aes_gcm_siv"):
        columns.encrypt(good, columns.Key(key), layout="chacha20_poly1305")
    spent = columns.Key(key, "aes_gcm", used=2**32 - 1)
    with pytest.raises(RuntimeError, match="as many values"):
        columns.encrypt(good, spent)
    assert len(columns.encrypt(good.slice(1), spent)) == 1 and spent.used == 2**32
    cells = columns.encrypt(pa.array([b"text", b"\xff"]), key)
    with pytest.raises(UnicodeError, match="row 1"):
        columns.decrypt(cells, key, text=True)
    assert columns.decrypt(cells, key, text=True, on_error="null").to_pylist() == ["text", None]


def test_key_as_any_buffer():
    array = pa.array([b"a"])
    cells = columns.encrypt(array, bytearray(32), context=memoryview(b"c"))
    assert columns.decrypt(cells, numpy.zeros(32, "u1"), context="c") == array
