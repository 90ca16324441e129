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

A ``Keyring`` has several keys with ids, and each cell begins with the id of its key, so that keys can be
changed. Tables of pyarrow remember how their columns were encrypted, in the metadata of the fields, which
Parquet and IPC files keep:

>>> ring = columns.Keyring()
>>> table = pa.table({"id": [1, 2], "ssn": ["078-05-1120", None]})
>>> sealed = columns.encrypt_table(table, {"ssn": ring}, rows="id")
>>> ring.set_primary(ring.add())
>>> sealed, counts = columns.rekey_table(sealed, ring)
>>> counts["ssn"].moved
1
>>> columns.decrypt_table(sealed, ring) == table
True
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lanecrypt._lanecrypt import (
    LAYOUTS,
    Array,
    ChunkedArray,
    InvalidTag,
    Key,
    Keyring,
    UnknownKey,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "LAYOUTS",
    "Array",
    "ChunkedArray",
    "Key",
    "Keyring",
    "Rekeyed",
    "UnknownKey",
    "decrypt",
    "decrypt_table",
    "encrypt",
    "encrypt_table",
    "rekey",
    "rekey_table",
]


class Rekeyed(NamedTuple):
    """Cells that ``rekey`` has moved to the primary key, and how many, by what was done."""

    cells: Any
    kept: int
    moved: int
    unknown: int
    forged: int


def encrypt(
    column: Any,
    key: Buffer | Key | Keyring,
    *,
    layout: str | None = None,
    context: str | Buffer = b"",
    rows: Any = None,
    threads: int = 1,
) -> Any:
    """Encrypts each value of a column. NULLs stay NULL.

    ``column`` has bytes or text; cast other types first. ``key`` is the bytes of a key, or a
    ``Key``, which is expanded once for many columns and counts what it encrypts, or a ``Keyring``, whose
    primary key encrypts.

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
    lanecrypt.InvalidTag: row 0: the cell is not authentic: a changed or moved cell, another key or \
layout, a missing context or other rows
    """
    made = _key(key, layout)._encrypt(
        _arrow(column), context=_bytes(context), rows=_arrow(rows), threads=threads
    )
    return _like(column, made)


def decrypt(
    column: Any,
    key: Buffer | Key | Keyring,
    *,
    layout: str | None = None,
    context: str | Buffer = b"",
    rows: Any = None,
    on_error: Literal["raise", "null"] = "raise",
    text: bool = False,
    threads: int = 1,
) -> Any:
    """Decrypts each cell of a column. NULLs stay NULL.

    Raises InvalidTag with the first row that is not authentic, and what may differ, or UnknownKey with
    the first row whose key the ring does not have or has disabled, unless ``on_error="null"`` makes such
    rows NULL; a ``Key`` counts them as ``failed``, a ``Keyring`` as ``forged`` and ``unknown``. With ``text`` the values are text, except those
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
    key = _key(key, layout)
    context = _bytes(context)
    try:
        made = key._decrypt(
            _arrow(column),
            context=context,
            rows=_arrow(rows),
            null_on_error=on_error == "null",
            text=text,
            threads=threads,
        )
    except InvalidTag as error:
        causes = [] if isinstance(key, Keyring) else ["another key or layout"]
        causes += ["another context" if context else "a missing context"]
        causes += ["missing rows" if rows is None else "other rows"]
        raise _explained(error, causes) from None
    return _like(column, made)


def rekey(
    column: Any,
    ring: Keyring,
    *,
    context: str | Buffer = b"",
    rows: Any = None,
    threads: int = 1,
) -> Rekeyed:
    """Moves each cell of a column to the primary key of the ring: it is decrypted, and encrypted again for
    the same context and rows, unless it has this key already. NULLs stay NULL.

    Every cell is checked. Those that cannot be decrypted stay as they are: those whose key the ring does
    not have are counted as ``unknown``, others as ``forged``. The rest was ``kept`` or ``moved``.

    >>> import pyarrow as pa
    >>> ring = Keyring()
    >>> cells = encrypt(pa.array(["a", None, "b"]), ring)
    >>> ring.set_primary(ring.add())
    >>> rekey(cells, ring)[1:]
    (0, 2, 0, 0)
    """
    made, counts = ring._rekey(
        _arrow(column), context=_bytes(context), rows=_arrow(rows), threads=threads
    )
    return Rekeyed(_like(column, made), *counts)


def encrypt_table(
    table: Any,
    keys: Mapping[str, Keyring | Key | Buffer],
    *,
    context: Mapping[str, str] | None = None,
    rows: str | None = None,
    again: bool = False,
    threads: int = 1,
) -> Any:
    """Encrypts columns of a table or record batch of pyarrow; the others stay as they are.

    ``keys`` has the key for each column. The context of a column is its name, unless ``context`` has
    another one. ``rows`` is the name of a column with a value for each row, such as the primary key.

    The metadata of the field says what was done, so that ``decrypt_table`` needs nothing but keys:
    ``lanecrypt.layout``, ``.context``, ``.rows``, ``.type``, and with a ``Keyring`` ``.key``, the id.
    Parquet and IPC files keep it. It is not secret and not authentic: whoever can write the file can
    exchange two columns together with it, unless ``decrypt_table`` is given the contexts.

    A column that is encrypted is refused, unless it is to be encrypted ``again``.
    """
    _checked(table)
    row_type, row_values = _row_column(table, rows, None, None, keys)
    if rows is not None and _remembered(table.schema.field(_position(table, rows))):
        raise ValueError(f"the column {rows!r} is encrypted: its cells change with every key")
    for field in table.schema:
        remembered = _remembered(field)
        if _ROWS in remembered and _row_pair(field.name, remembered)[0] in keys:
            raise ValueError(f"column {field.name!r} is bound to one that is to be encrypted")
    for name, given in keys.items():
        at = _position(table, name)
        field = table.schema.field(at)
        before = _remembered(field)
        if before and not again:
            raise ValueError(f"column {name!r} is encrypted already: again=True encrypts it again")
        key = _key(given, None)
        own_context = (context or {}).get(name, name)
        metadata = {_LAYOUT: key.layout, _CONTEXT: own_context, _TYPE: str(field.type)}
        if rows is not None:
            metadata[_ROWS] = json.dumps([rows, row_type])
        if isinstance(key, Keyring):
            metadata[_KEY] = str(key.primary)
        if before:
            metadata[_AGAIN] = json.dumps(before)
        cells = encrypt(table.column(at), key, context=own_context, rows=row_values, threads=threads)
        table = _replaced(table, at, cells, metadata)
    if others := (context or {}).keys() - keys.keys():
        raise ValueError(f"context= names other columns: {sorted(others)}")
    return table


def decrypt_table(
    table: Any,
    keys: Keyring | Key | Buffer | Mapping[str, Keyring | Key | Buffer],
    *,
    context: Mapping[str, str] | None = None,
    rows: str | None = None,
    on_error: Literal["raise", "null"] = "raise",
    threads: int = 1,
) -> Any:
    """Decrypts the columns that ``encrypt_table`` has encrypted: all of them with one key or ring, or
    those that ``keys`` names. They have their types of before.

    ``context`` has the contexts that columns must have been encrypted for; ``rows`` is the name of the
    column that they are bound to, if it is not the one of before.

    >>> import pyarrow as pa
    >>> ring = Keyring()
    >>> sealed = encrypt_table(pa.table({"id": [1], "name": ["Anne"]}), {"name": ring}, rows="id")
    >>> decrypt_table(sealed.drop_columns(["id"]), ring)
    Traceback (most recent call last):
    ...
    ValueError: column 'name' is bound to the column 'id' of int64, which is missing
    """
    for name, at, key, remembered in _encrypted(table, keys):
        own_context, row_values = _bound(table, name, remembered, context, rows)
        kind = remembered.get(_TYPE, "binary")
        if kind not in _TYPES and not kind.startswith("fixed_size_binary["):
            raise ValueError(f"column {name!r} was of another type than bytes or text: {kind!r}")
        try:
            values = decrypt(
                table.column(at),
                key,
                context=own_context,
                rows=row_values,
                on_error=on_error,
                text="string" in kind,
                threads=threads,
            )
        except (InvalidTag, UnknownKey, UnicodeError) as error:
            causes = [] if isinstance(key, Keyring) else ["another key"]
            if row_values is not None:
                causes += [f"another value of {_row_name(name, remembered, rows)!r}"]
            raise _explained(error, causes, name) from None
        if kind in _TYPES and str(values.type) != kind:
            values = values.cast(kind)
        before = _parsed(name, remembered.get(_AGAIN, "{}"), dict)
        before = {key: value for key, value in before.items() if key.startswith(_PREFIX)}
        table = _replaced(table, at, values, before)
    return table


def rekey_table(
    table: Any,
    rings: Keyring | Mapping[str, Keyring],
    *,
    context: Mapping[str, str] | None = None,
    rows: str | None = None,
    threads: int = 1,
) -> tuple[Any, dict[str, Rekeyed]]:
    """Moves columns that ``encrypt_table`` has encrypted to the primary key of their ring, as ``rekey``
    does. Returns the table, and what was done for each column.
    """
    done = {}
    for name, at, ring, remembered in _encrypted(table, rings):
        if not isinstance(ring, Keyring):
            raise TypeError(f"column {name!r}: only a Keyring moves cells from key to key")
        own_context, row_values = _bound(table, name, remembered, context, rows)
        done[name] = rekey(
            table.column(at), ring, context=own_context, rows=row_values, threads=threads
        )
        remembered[_KEY] = str(ring.primary)
        table = _replaced(table, at, done[name].cells, remembered)
    return table, done


# Keys of the metadata of a field.
_PREFIX = "lanecrypt."
_LAYOUT = _PREFIX + "layout"
_CONTEXT = _PREFIX + "context"
_ROWS = _PREFIX + "rows"
_KEY = _PREFIX + "key"
_TYPE = _PREFIX + "type"
_AGAIN = _PREFIX + "again"

_CHANGED = ": a changed or moved cell"
_TYPES = ("binary", "string", "large_binary", "large_string", "binary_view", "string_view")


def _explained(error: Exception, causes: list[str], name: str | None = None) -> Exception:
    """The error with the name of the column, and for a cell that is not authentic the likely causes."""
    text = str(error)
    if name is not None:
        text = f"column {name!r}, {text.partition(_CHANGED)[0]}"
    if text.endswith("is not authentic"):
        text += _CHANGED
        for cause in causes:
            text += (" or " if cause == causes[-1] else ", ") + cause
    return type(error)(text)


def _checked(table: Any) -> None:
    if not hasattr(table, "schema") or not hasattr(table, "set_column"):
        raise TypeError(f"a table or record batch of pyarrow, not {type(table).__name__}")


def _position(table: Any, name: str) -> int:
    _checked(table)
    at: int = table.schema.get_field_index(name)
    if at < 0:
        raise ValueError(f"no column {name!r}, or several: there are {table.schema.names}")
    return at


def _parsed(name: str, text: str, kind: type) -> Any:
    """A list or dict of text in metadata."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        items = None
    values = items.values() if isinstance(items, dict) else items
    if not isinstance(items, kind) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"column {name!r}: the metadata is not what encrypt_table writes")
    return items


def _remembered(field: Any) -> dict[str, str]:
    """What the metadata of a field says about its encryption; empty if there is nothing."""
    items = {
        key.decode(): value.decode()
        for key, value in (field.metadata or {}).items()
        if key.startswith(_PREFIX.encode())
    }
    return items if _LAYOUT in items else {}


def _replaced(table: Any, at: int, column: Any, metadata: Mapping[str, str]) -> Any:
    import pyarrow

    field = table.schema.field(at)
    others = {
        key: value
        for key, value in (field.metadata or {}).items()
        if not key.startswith(_PREFIX.encode())
    }
    whole = {**others, **{key.encode(): value.encode() for key, value in metadata.items()}}
    # Cells that cannot be decrypted may become NULL.
    nullable = field.nullable or column.null_count > 0
    made = pyarrow.field(field.name, column.type, nullable, whole or None)
    return table.set_column(at, made, column)


def _encrypted(table: Any, keys: Any) -> Iterator[tuple[str, int, Any, dict[str, str]]]:
    """The encrypted columns: name, position, key, and what the metadata says."""
    named = keys if isinstance(keys, Mapping) else None
    _checked(table)
    for name in named or []:
        if not _remembered(table.schema.field(_position(table, name))):
            raise ValueError(f"column {name!r} does not say that it is encrypted: use decrypt")
    for at, field in enumerate(table.schema):
        remembered = _remembered(field)
        if not remembered or (named is not None and field.name not in named):
            continue
        key = _key(keys if named is None else named[field.name], None)
        layout, has_id = remembered[_LAYOUT], _KEY in remembered
        if layout != key.layout:
            raise ValueError(f"column {field.name!r} has cells of {layout}, not of {key.layout}")
        if has_id and not isinstance(key, Keyring):
            raise ValueError(f"column {field.name!r} was encrypted with a Keyring, not with a Key")
        if isinstance(key, Keyring) and not has_id:
            raise ValueError(f"column {field.name!r} was encrypted with a Key, not with a Keyring")
        yield field.name, at, key, remembered


def _bound(
    table: Any,
    name: str,
    remembered: Mapping[str, str],
    context: Mapping[str, str] | None,
    rows: str | None,
) -> tuple[str, Any]:
    """The context and the values of the column that a column is bound to."""
    own: str = remembered.get(_CONTEXT, "")
    expected = (context or {}).get(name, own)
    if expected != own:
        raise ValueError(f"column {name!r} was encrypted for the context {own!r}, not {expected!r}")
    if _ROWS not in remembered:
        return own, None
    _, kind = _row_pair(name, remembered)
    return own, _row_column(table, _row_name(name, remembered, rows), name, kind, ())[1]


def _row_pair(name: str, remembered: Mapping[str, str]) -> tuple[str, str]:
    pair = _parsed(name, remembered[_ROWS], list)
    if len(pair) != 2:
        raise ValueError(f"column {name!r}: the metadata is not what encrypt_table writes")
    return pair[0], pair[1]


def _row_name(name: str, remembered: Mapping[str, str], rows: str | None) -> str:
    return _row_pair(name, remembered)[0] if rows is None else rows


def _row_column(
    table: Any, rows: str | None, name: str | None, kind: str | None, keys: Any
) -> tuple[str, Any]:
    """The type and the values of the column that cells are bound to; as ``kind``, if it is given."""
    if rows is None:
        return "", None
    if rows in keys:
        raise ValueError(f"the column {rows!r} binds others, and cannot be encrypted with them")
    bound = f"column {name!r} is bound to the column {rows!r} of {kind}, which is"
    if name is not None and (at := table.schema.get_field_index(rows)) < 0:
        raise ValueError(f"{bound} missing")
    at = _position(table, rows)
    values, own = table.column(at), str(table.schema.field(at).type)
    if name is None or own == kind or (own in _TYPES and kind in _TYPES):
        return own, values
    import pyarrow

    try:
        # A number with fewer bits is another value.
        return own, values.cast(pyarrow.type_for_alias(kind))
    except (ValueError, NotImplementedError):
        raise ValueError(f"{bound} of {own} now") from None


def _key(key: Buffer | Key | Keyring, layout: str | None) -> Key | Keyring:
    if not isinstance(key, (Key, Keyring)):
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
