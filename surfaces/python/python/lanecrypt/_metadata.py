"""What the metadata of fields says about encrypted columns: written, read and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lanecrypt import _types
from lanecrypt._column import as_key
from lanecrypt._lanecrypt import Key, Keyring
from lanecrypt.keys import Provider, provider

# Keys of the metadata of a field.
PREFIX = "lanecrypt."
LAYOUT = PREFIX + "layout"
CONTEXT = PREFIX + "context"
ROWS = PREFIX + "rows"
KEY = PREFIX + "key"
TYPE = PREFIX + "type"
SCHEMA = PREFIX + "schema"
DICTIONARY = PREFIX + "dictionary"
AGAIN = PREFIX + "again"


def checked(table: Any) -> None:
    if not hasattr(table, "schema") or not hasattr(table, "set_column"):
        kinds = "a table or record batch of pyarrow, a frame of polars or pandas, or a relation of DuckDB"
        raise TypeError(f"{kinds}, not {type(table).__name__}")


def position(table: Any, name: str) -> int:
    checked(table)
    at: int = table.schema.get_field_index(name)
    if at < 0:
        raise ValueError(f"no column {name!r}, or several: there are {table.schema.names}")
    return at


def remembered_of(field: Any) -> dict[str, str]:
    """What the metadata of a field says about its encryption; empty if there is nothing."""
    items = {
        key.decode(): value.decode()
        for key, value in (field.metadata or {}).items()
        if key.startswith(PREFIX.encode())
    }
    return items if LAYOUT in items else {}


def replaced(
    table: Any, at: int, column: Any, metadata: Mapping[str, str], kind: Any = None
) -> Any:
    """The table with another column, and this in the metadata of its field beside what others say there.
    ``kind`` is the column's type, if it is not the one of ``column``.
    """
    import pyarrow

    field = table.schema.field(at)
    own = (PREFIX.encode(), _types.EXTENSION)
    others = {key: value for key, value in (field.metadata or {}).items() if not key.startswith(own)}
    if isinstance(kind, pyarrow.Field):
        others.update(kind.metadata)
    whole = {**others, **{key.encode(): value.encode() for key, value in metadata.items()}}
    # Cells that cannot be decrypted may become NULL.
    nullable = field.nullable or column.null_count > 0
    made = pyarrow.field(field.name, column.type, nullable, whole or None)
    return table.set_column(at, made, column)


def written(key: Key | Keyring, context: str, kind: Any) -> dict[str, str]:
    """The metadata of a column that is encrypted."""
    name, whole = _types.to_texts(kind)
    metadata = {LAYOUT: key.layout, CONTEXT: context, TYPE: name}
    if whole is not None:
        metadata[SCHEMA] = whole
    if isinstance(key, Keyring):
        metadata[KEY] = str(key.primary)
    return metadata


def type_of(name: str, remembered: Mapping[str, str], types: Mapping[str, Any] | None = None) -> Any:
    """The type of before."""
    try:
        kind = _types.from_texts(remembered.get(TYPE, "binary"), remembered.get(SCHEMA))
    except (ValueError, TypeError, OverflowError, OSError, LookupError, NotImplementedError):
        raise ValueError(f"column {name!r}: the metadata has no type that encrypt_table writes") from None
    wanted = _types.to_type((types or {}).get(name))
    if wanted is not None and _types.bound(b"", wanted) != _types.bound(b"", kind):
        raise ValueError(f"column {name!r} was of {kind}, not of {wanted}")
    return kind if wanted is None else wanted


def described(
    table: Any,
    key: Mapping[str, Any],
    types: Mapping[str, Any],
    context: Mapping[str, str] | None,
    rows: str | None,
    keys: Provider | None,
    layout: str | None,
) -> tuple[Any, Mapping[str, Any]]:
    """The table with the metadata of what the arguments say, where it has none; and its keys."""
    found = dict(key)
    for name, given in key.items():
        at = position(table, name)
        if remembered_of(table.schema.field(at)) or name not in types:
            continue
        found[name] = own = resolved(name, given, keys, layout)
        own_context = (context or {}).get(name, name)
        metadata = written(own, own_context, _types.to_type(types[name]))
        if rows is not None:
            metadata[ROWS] = json.dumps([rows, str(table.schema.field(position(table, rows)).type)])
        table = replaced(table, at, table.column(at), metadata)
    return table, found


def encrypted(
    table: Any,
    key: Any,
    keys: Provider | None,
    layout: str | None,
    types: Mapping[str, Any] | None = None,
) -> list[tuple[str, int, Key | Keyring, dict[str, str]]]:
    """The encrypted columns: name, position, key, and what the metadata says."""
    named = key if isinstance(key, Mapping) else None
    checked(table)
    for name in named or []:
        known = types is not None and name in types
        if not remembered_of(table.schema.field(position(table, name))) and not known:
            raise ValueError(
                f"column {name!r} does not say that it is encrypted: types= has the type that it had"
            )
    found = []
    for at, field in enumerate(table.schema):
        remembered = remembered_of(field)
        if not remembered or (named is not None and field.name not in named):
            continue
        name = field.name
        own = resolved(name, key if named is None else named[name], keys, layout)
        was_layout, has_id = remembered[LAYOUT], KEY in remembered
        if was_layout != own.layout:
            raise ValueError(f"column {name!r} has cells of {was_layout}, not of {own.layout}")
        if has_id and not isinstance(own, Keyring):
            raise ValueError(f"column {name!r} was encrypted with a Keyring, not with a Key")
        if isinstance(own, Keyring) and not has_id:
            raise ValueError(f"column {name!r} was encrypted with a Key, not with a Keyring")
        found.append((name, at, own, remembered))
    return found


def resolved(name: str, key: Any, keys: Provider | None, layout: str | None) -> Key | Keyring:
    """The key of a column: as it is given, or by its name from a provider."""
    if isinstance(key, str):
        if keys is None:
            raise TypeError(f"column {name!r}: {key!r} is the name of a key: keys= has a provider")
        key = provider(keys)(key)
    return as_key(key, None if isinstance(key, (Key, Keyring)) else layout)


def parsed(name: str, text: str, kind: type) -> Any:
    """A list or dict of text in metadata."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        items = None
    values = items.values() if isinstance(items, dict) else items
    if not isinstance(items, kind) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"column {name!r}: the metadata is not what encrypt_table writes")
    return items


def bound_to(
    table: Any,
    name: str,
    remembered: Mapping[str, str],
    context: Mapping[str, str] | None,
    rows: str | None,
) -> tuple[str, Any]:
    """The context and the values of the column that a column is bound to."""
    own: str = remembered.get(CONTEXT, "")
    expected = (context or {}).get(name, own)
    if expected != own:
        raise ValueError(f"column {name!r} was encrypted for the context {own!r}, not {expected!r}")
    if ROWS not in remembered:
        return own, None
    _, kind = row_pair(name, remembered)
    return own, row_column(table, row_name(name, remembered, rows), name, kind, ())[1]


def row_pair(name: str, remembered: Mapping[str, str]) -> tuple[str, str]:
    pair = parsed(name, remembered[ROWS], list)
    if len(pair) != 2:
        raise ValueError(f"column {name!r}: the metadata is not what encrypt_table writes")
    return pair[0], pair[1]


def row_name(name: str, remembered: Mapping[str, str], rows: str | None) -> str:
    return row_pair(name, remembered)[0] if rows is None else rows


def row_column(
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
    at = position(table, rows)
    values, own = table.column(at), str(table.schema.field(at).type)
    if name is None or own == kind:
        return own, values
    try:
        # A number with fewer bits is another value; text and bytes are the same in all their kinds.
        before = _types.from_texts(str(kind), None)
        is_same = _types.is_bytes(before) and _types.is_bytes(values.type)
        return own, values if is_same else values.cast(before)
    except (ValueError, NotImplementedError):
        raise ValueError(f"{bound} of {own} now") from None
