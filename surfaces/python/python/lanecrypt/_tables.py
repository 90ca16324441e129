"""Tables whose columns are encrypted, and say so in the metadata of their fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from lanecrypt import _frames, _types
from lanecrypt._column import Rekeyed, decrypt, encrypt, explained, rekey
from lanecrypt._dictionaries import is_ordered, moved_dictionary, sealed_dictionary, with_dictionary
from lanecrypt._lanecrypt import InvalidTag, Key, Keyring, UnknownKey
from lanecrypt._metadata import (
    AGAIN,
    DICTIONARY,
    KEY,
    PREFIX,
    ROWS,
    bound_to,
    checked,
    described,
    encrypted,
    parsed,
    position,
    remembered_of,
    replaced,
    resolved,
    row_column,
    row_name,
    row_pair,
    type_of,
    written,
)
from lanecrypt._progress import Progress, shown
from lanecrypt.keys import Provider

if TYPE_CHECKING:
    from typing_extensions import Buffer


def encrypt_table(
    table: Any,
    key: Mapping[str, Keyring | Key | Buffer | str],
    *,
    keys: Provider | None = None,
    layout: str | None = None,
    context: Mapping[str, str] | None = None,
    rows: str | None = None,
    again: bool = False,
    threads: int = 1,
    progress: Progress = False,
) -> Any:
    """Encrypts columns of a table of any package, and returns such a table; other columns stay as they are.

    ``key`` has the key for each column, or its name, by which ``keys`` finds it (``lanecrypt.keys``);
    ``layout`` is that of keys that are bytes. The context of a column is its name, unless ``context`` has
    another one. ``rows`` is the name of a column with a value for each row, such as the primary key.

    The field of a table or record batch of pyarrow says in its metadata what was done, so that
    ``decrypt_table`` needs nothing but keys: ``lanecrypt.layout``, ``.context``, ``.rows``, ``.type``
    (with ``.schema`` and, for ordered dictionaries, an encrypted ``.dictionary``), and with a ``Keyring``
    ``.key``, the id. Parquet and IPC files keep it. It is not secret and not authentic. Another type of
    values, context or rows is refused, but whoever can write the file can exchange two columns together
    with it, unless ``decrypt_table`` is given the contexts; and how Arrow keeps the values can be
    changed: text as bytes, lists and dictionaries in their other kinds, whether there may be NULLs.

    A column that is encrypted is refused, unless it is to be encrypted ``again``.

    Frames of polars and pandas and relations of DuckDB have no metadata of columns: ``decrypt_table``
    needs ``types``, ``context`` and ``rows``, and a column that is encrypted is not noticed. NaN in floats
    of pandas is NULL. A LazyFrame of polars is encrypted by batches, when it is collected; a relation of
    DuckDB is read at once. Columns of Spark's frames are text or bytes: see ``lanecrypt.spark``.
    """
    if not isinstance(key, Mapping):
        raise TypeError("the keys are a dict from the names of the columns that are encrypted")
    if others := (context or {}).keys() - key.keys():
        raise ValueError(f"context= names other columns: {sorted(others)}")
    package = _frames.package(table)
    options: dict[str, Any] = {"keys": keys, "layout": layout, "context": context, "rows": rows}
    if package == "pyspark":
        return _in_spark("encrypt", table, key, options, progress)
    options.update(threads=threads, progress=progress)
    if package in _frames.WITHOUT_METADATA:
        if hasattr(table, "collect_schema") and hasattr(table, "collect"):
            # Once, not for each batch.
            key = {name: resolved(name, given, keys, layout) for name, given in key.items()}
            cells = dict.fromkeys(key, _types.to_type("binary"))
            return _in_batches(table, cells, progress, lambda it: encrypt_table(it, key, **options))
        part = _frames.taken(table, {*key, *([] if rows is None else [rows])})
        return _frames.put(table, encrypt_table(part, key, **options), key)

    checked(table)
    row_type, row_values = row_column(table, rows, None, None, key)
    if rows is not None and remembered_of(table.schema.field(position(table, rows))):
        raise ValueError(f"the column {rows!r} is encrypted: its cells change with every key")
    for field in table.schema:
        remembered = remembered_of(field)
        if ROWS in remembered and row_pair(field.name, remembered)[0] in key:
            raise ValueError(f"column {field.name!r} is bound to one that is to be encrypted")
    with shown(progress, table.num_rows * len(key), "encrypt") as show:
        for number, (name, given) in enumerate(key.items()):
            at = position(table, name)
            field = table.schema.field(at)
            before = remembered_of(field)
            if before and not again:
                raise ValueError(f"column {name!r} is encrypted already: again=True encrypts it again")
            own = resolved(name, given, keys, layout)
            own_context = (context or {}).get(name, name)
            kind = _types.kind_of(field)
            metadata = written(own, own_context, kind)
            if rows is not None:
                metadata[ROWS] = json.dumps([rows, row_type])
            if before:
                metadata[AGAIN] = json.dumps(before)
            values = table.column(at)
            if is_ordered(field.type):
                metadata[DICTIONARY] = sealed_dictionary(values, own, own_context)
            try:
                cells = encrypt(
                    values,
                    own,
                    type=kind,
                    context=own_context,
                    rows=row_values,
                    threads=threads,
                    progress=_part(show, number * table.num_rows),
                )
            except (TypeError, OverflowError) as error:
                raise type(error)(f"column {name!r}: {error}") from None
            table = replaced(table, at, cells, metadata)
    return table


def decrypt_table(
    table: Any,
    key: Keyring | Key | Buffer | str | Mapping[str, Keyring | Key | Buffer | str],
    *,
    keys: Provider | None = None,
    layout: str | None = None,
    context: Mapping[str, str] | None = None,
    rows: str | None = None,
    types: Mapping[str, Any] | None = None,
    on_error: Literal["raise", "null"] = "raise",
    threads: int = 1,
    progress: Progress = False,
) -> Any:
    """Decrypts the columns that ``encrypt_table`` has encrypted: all of them with one key or ring, or
    those that ``key`` names. They have their types of before.

    ``context`` has the contexts that columns must have been encrypted for; ``rows`` is the name of the
    column that they are bound to, if it is not the one of before. ``keys`` and ``layout`` are those of
    ``encrypt_table``.

    ``types`` has the types that columns must have been of: types of pyarrow or polars, or names such as
    ``"int64"``. Where there is no metadata, ``types`` is needed for each column, ``rows`` if there was
    one, and a context that is not given is the column's name.

    >>> import pyarrow as pa
    >>> ring = Keyring()
    >>> sealed = encrypt_table(pa.table({"id": [1], "name": ["Anne"]}), {"name": ring}, rows="id")
    >>> decrypt_table(sealed.drop_columns(["id"]), ring)
    Traceback (most recent call last):
    ...
    ValueError: column 'name' is bound to the column 'id' of int64, which is missing
    """
    package = _frames.package(table)
    options: dict[str, Any] = {"keys": keys, "layout": layout, "context": context, "rows": rows}
    if package == "pyspark" or package in _frames.WITHOUT_METADATA:
        if not isinstance(key, Mapping) or not key.keys() <= (types or {}).keys():
            raise ValueError(
                f"tables of {package.strip('_')} do not say how their columns were encrypted: name the"
                " columns with their keys, and their types of before in types="
            )
        given = {name: (types or {})[name] for name in key}
        of_columns = {name: _types.to_type(kind) for name, kind in given.items()}
        options.update(on_error=on_error)
        if package == "pyspark":
            return _in_spark("decrypt", table, key, options, progress, of_columns)
        options.update(types=given, threads=threads, progress=progress)
        if hasattr(table, "collect_schema") and hasattr(table, "collect"):
            key = {name: resolved(name, given, keys, layout) for name, given in key.items()}
            work = lambda it: decrypt_table(it, key, **options)  # noqa: E731
            return _in_batches(table, given, progress, work)
        part = _frames.taken(table, {*key, *([] if rows is None else [rows])})
        options.update(types=of_columns)
        return _frames.put(table, decrypt_table(part, key, **options), key, given)

    if isinstance(key, Mapping) and types:
        checked(table)
        table, key = described(table, key, types, context, rows, keys, layout)
    found = encrypted(table, key, keys, layout, types)
    with shown(progress, table.num_rows * len(found), "decrypt") as show:
        for number, (name, at, own, remembered) in enumerate(found):
            own_context, row_values = bound_to(table, name, remembered, context, rows)
            kind = type_of(name, remembered, types)
            cells = table.column(at)
            try:
                values = decrypt(
                    cells,
                    own,
                    type=kind,
                    context=own_context,
                    rows=row_values,
                    on_error=on_error,
                    threads=threads,
                    progress=_part(show, number * table.num_rows),
                )
            except (InvalidTag, UnknownKey, UnicodeError) as error:
                causes = [] if isinstance(own, Keyring) else ["another key"]
                if _types.bound(b"", kind):
                    causes += ["another type"]
                if row_values is not None:
                    causes += [f"another value of {row_name(name, remembered, rows)!r}"]
                made = explained(error, causes, name)
                length = _length_cause(str(error), cells, own, kind)
                raise type(made)(f"{made}{length}") from None
            except (ValueError, TypeError) as error:
                raise type(error)(f"column {name!r}: {error}") from None
            if DICTIONARY in remembered and is_ordered(kind):
                values = with_dictionary(values, remembered[DICTIONARY], name, own, own_context)
            before = parsed(name, remembered.get(AGAIN, "{}"), dict)
            before = {key: value for key, value in before.items() if key.startswith(PREFIX)}
            table = replaced(table, at, values, before, kind)
    return table


def rekey_table(
    table: Any,
    rings: Keyring | Mapping[str, Keyring],
    *,
    context: Mapping[str, str] | None = None,
    rows: str | None = None,
    threads: int = 1,
    progress: Progress = False,
) -> tuple[Any, dict[str, Rekeyed]]:
    """Moves columns that ``encrypt_table`` has encrypted to the primary key of their ring, as ``rekey``
    does. Returns the table, and what was done for each column.
    """
    done = {}
    found = encrypted(table, rings, None, None)
    with shown(progress, table.num_rows * len(found), "rekey") as show:
        for number, (name, at, ring, remembered) in enumerate(found):
            if not isinstance(ring, Keyring):
                raise TypeError(f"column {name!r}: only a Keyring moves cells from key to key")
            own_context, row_values = bound_to(table, name, remembered, context, rows)
            kind = type_of(name, remembered)
            done[name] = rekey(
                table.column(at),
                ring,
                type=kind,
                context=own_context,
                rows=row_values,
                threads=threads,
                progress=_part(show, number * table.num_rows),
            )
            remembered[KEY] = str(ring.primary)
            if DICTIONARY in remembered and is_ordered(kind):
                remembered[DICTIONARY] = moved_dictionary(
                    remembered[DICTIONARY], name, ring, own_context, kind
                )
            table = replaced(table, at, done[name].cells, remembered)
    return table, done


def _part(show: Any, before: int) -> Progress:
    """The progress of a column, after so many rows of others."""
    return False if show is None else lambda done, _: show(before + done)


def _in_spark(
    name: str,
    frame: Any,
    key: Mapping[str, Any],
    options: dict[str, Any],
    progress: Progress,
    types: Mapping[str, Any] | None = None,
) -> Any:
    from lanecrypt import spark

    if progress is not False:
        raise ValueError("Spark shows its own progress: no progress=")
    if options["keys"] is None:
        raise TypeError("columns of Spark have names of keys, and keys= has a provider of lanecrypt.keys")
    context = options["context"] or {}
    options = {**options, "context": {column: context.get(column, column) for column in key}}
    if options["layout"] is None:
        del options["layout"]
    if types is not None:
        if others := [column for column, kind in types.items() if str(kind) not in ("string", "binary")]:
            raise ValueError(f"columns of Spark are string or binary: {others}")
        options["text"] = [column for column, kind in types.items() if str(kind) == "string"]
    return getattr(spark, name)(frame, key, **options)


def _length_cause(text: str, cells: Any, key: Key | Keyring, kind: Any) -> str:
    """What the length of a cell says, if values of its type have one length."""
    found = re.match(r"row (\d+)", text)
    width = _types.width(kind)
    if found is None or width is None:
        return ""
    given = len(cells[int(found[1])].as_py())
    needed = width + (16 if key.layout == "deterministic" else 28) + 5 * isinstance(key, Keyring)
    return "" if given == needed else f"; it has {given} bytes, a cell of {kind} has {needed}"


def _in_batches(frame: Any, types: Mapping[str, Any], progress: Progress, work: Any) -> Any:
    """The work on a LazyFrame, when it is collected."""
    if progress is not False:
        raise ValueError("a LazyFrame does not know how many rows it has: no progress=")
    return _frames.lazily(frame, types, work)
