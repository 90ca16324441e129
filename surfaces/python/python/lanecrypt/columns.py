"""Columns of tables, encrypted value by value.

Any object with Arrow's interface for Python is a column: arrays and chunked arrays of ``pyarrow``,
Series of ``polars``, DuckDB's relations of one column; Series of ``pandas`` by way of ``pyarrow``.
pyarrow, polars and pandas get objects of their own back, others an object with the same interface.

>>> import pyarrow as pa
>>> from lanecrypt import columns, token_bytes
>>> key = token_bytes(32)
>>> names = pa.array(["Anne", None, "Berta"])
>>> cells = columns.encrypt(names, key, context="people.name")
>>> cells.type, cells.null_count
(DataType(binary), 1)
>>> columns.decrypt(cells, key, context="people.name", text=True).to_pylist()
['Anne', None, 'Berta']

A cell is a nonce, the encrypted value and a tag, so that it can be read alone, wherever the table has
gone. Layouts:

``aes_gcm_siv``
    The default: 12 bytes of nonce, the ciphertext, 16 bytes of tag. AES-GCM-SIV (RFC 8452) with keys of
    16 or 32 bytes. A nonce that occurs twice reveals only whether the two values are the same.
``aes_gcm``
    The same with AES-GCM and keys of 16, 24 or 32 bytes. Spark and Databricks write and read the same
    cells with ``aes_encrypt(value, key, 'GCM')``.
``chacha20_poly1305``
    The same with ChaCha20-Poly1305 and keys of 32 bytes.
``deterministic``
    A synthetic vector of 16 bytes, which is also the tag, and the ciphertext. AES-SIV (RFC 5297) without
    a nonce, with keys of 32, 48 or 64 bytes. Equal values give equal cells, so that they can be joined,
    grouped and looked up, and whoever sees the cells learns which values are equal.

Nonces are random. One key is good for 2^32 values, with ``aes_gcm_siv`` for 2^48, on all machines
together. Whoever reads the cells sees how long each value is, and which are NULL. Cells can be moved to
other rows, columns and tables, unless ``context`` and ``rows`` say where they belong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from lanecrypt._lanecrypt import LAYOUTS, Array, ChunkedArray, Key

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["LAYOUTS", "Array", "ChunkedArray", "Key", "decrypt", "encrypt"]


def encrypt(
    column: Any,
    key: Buffer | Key,
    *,
    layout: str | None = None,
    context: str | Buffer = b"",
    rows: Any = None,
    threads: int = 1,
) -> Any:
    """Encrypts each value of a column. NULLs stay NULL.

    ``column`` has bytes or text; cast other types first. ``key`` is the bytes of a key, or a
    ``Key``, which is expanded once for many columns and counts what it encrypts.

    ``context`` is associated data of each cell, such as the names of table and column, and ``rows`` a
    column of as many rows without NULLs, such as the primary key. Cells are decrypted only with the
    same ones; a number as int32 and the same number as int64 are not the same. ``threads`` share a
    long column; 0 is as many as there are processors. The interpreter's lock is released.

    Cells of binary and text columns are binary, those of columns of a fixed size have a fixed size, and
    all others are large binary.

    Raises ValueError, TypeError, OverflowError (cells of more than 2^31 - 1 bytes in one chunk with
    offsets of 32 bits) or RuntimeError (the key has encrypted enough).

    >>> import pyarrow as pa
    >>> key = Key(bytes(range(32)))
    >>> ids = pa.array([7, 8])
    >>> cells = encrypt(pa.array(["a", "b"]), key, rows=ids)
    >>> key.used
    2
    >>> decrypt(cells.take([1, 0]), key, rows=ids)
    Traceback (most recent call last):
    ...
    lanecrypt.InvalidTag: row 0: the cell is not authentic
    """
    made = _key(key, layout)._encrypt(
        _arrow(column), context=_bytes(context), rows=_arrow(rows), threads=threads
    )
    return _like(column, made)


def decrypt(
    column: Any,
    key: Buffer | Key,
    *,
    layout: str | None = None,
    context: str | Buffer = b"",
    rows: Any = None,
    on_error: Literal["raise", "null"] = "raise",
    text: bool = False,
    threads: int = 1,
) -> Any:
    """Decrypts each cell of a column. NULLs stay NULL.

    Raises InvalidTag with the first row that is not authentic, unless ``on_error="null"`` makes such
    rows NULL; a ``Key`` counts them as ``failed``. With ``text`` the values are text, except those
    of a fixed size, and UnicodeError is raised where they are not. Otherwise as ``encrypt``.

    >>> import pyarrow as pa
    >>> key = bytes(16)
    >>> cells = encrypt(pa.array([b"abc", b"def"]), key)
    >>> decrypt(cells, key).to_pylist()
    [b'abc', b'def']
    >>> key = Key(key)
    >>> decrypt(pa.array([b"no cell", None]), key, on_error="null").to_pylist()
    [None, None]
    >>> key.failed
    1
    """
    if on_error not in ("raise", "null"):
        raise ValueError(f'on_error is "raise" or "null", not {on_error!r}')
    made = _key(key, layout)._decrypt(
        _arrow(column),
        context=_bytes(context),
        rows=_arrow(rows),
        null_on_error=on_error == "null",
        text=text,
        threads=threads,
    )
    return _like(column, made)


def _key(key: Buffer | Key, layout: str | None) -> Key:
    if not isinstance(key, Key):
        return Key(key) if layout is None else Key(key, layout)
    if layout is not None and layout != key.layout:
        raise ValueError(f"a key for {key.layout}, not for {layout}")
    return key


def _bytes(context: str | Buffer) -> bytes:
    return context.encode() if isinstance(context, str) else bytes(memoryview(context))


def _package(column: Any) -> str:
    return type(column).__module__.partition(".")[0]


def _arrow(column: Any) -> Any:
    """The column as an object with Arrow's interface."""
    package = _package(column)
    if package == "pyarrow" and hasattr(column, "validate"):
        # The interface does not tell the length of buffers. This compares offsets with it.
        column.validate()
    elif package == "pandas":
        import pyarrow

        return pyarrow.array(column, from_pandas=True)
    return column


def _like(column: Any, made: Array | ChunkedArray) -> Any:
    """The result as the kind of object that the column was."""
    match _package(column):
        case "pyarrow":
            return _pyarrow(made)
        case "polars":
            import polars

            series = isinstance(column, polars.Series)
            return polars.Series(made).alias(column.name if series else column.columns[0])
        case "pandas":
            import pandas

            array = pandas.arrays.ArrowExtensionArray(_pyarrow(made))
            return pandas.Series(array, index=column.index, name=column.name)
        case _:
            return made


def _pyarrow(made: Array | ChunkedArray) -> Any:
    import pyarrow

    return pyarrow.array(made) if isinstance(made, Array) else pyarrow.chunked_array(made)
