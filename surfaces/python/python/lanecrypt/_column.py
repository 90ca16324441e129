"""Single columns: encrypted, decrypted, and moved from key to key."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from lanecrypt import _frames, _types
from lanecrypt._lanecrypt import InvalidTag, Key, Keyring, UnknownKey
from lanecrypt._progress import STEP, Progress, shown

if TYPE_CHECKING:
    from typing_extensions import Buffer


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
    type: Any = None,
    layout: str | None = None,
    context: str | Buffer = b"",
    rows: Any = None,
    threads: int = 1,
    progress: Progress = False,
) -> Any:
    """Encrypts each value of a column. NULLs stay NULL.

    ``column`` has bytes or text, unless ``type`` says which other type it has: one of pyarrow or polars,
    or a name, such as ``"int64"``. ``key`` is the bytes of a key, or a ``Key``, which is expanded once
    for many columns and counts what it encrypts, or a ``Keyring``, whose primary key encrypts.

    ``context`` is associated data of each cell, such as the names of table and column, and ``rows`` a
    column of as many rows without NULLs, such as the primary key. Cells are decrypted only with the
    same ones; a number as int32 and the same number as int64 are not the same. ``threads`` share a
    long column; 0 is as many as there are processors. The interpreter's lock is released. With
    ``progress`` a bar of tqdm, or lines on stderr without it, show how many rows are done, or a function is
    called with that number and the number of all.

    Cells of binary and text columns are binary, those of columns of a fixed size have a fixed size, and
    all others are large binary.

    Raises ValueError, TypeError, OverflowError (cells of more than 2^31 - 1 bytes in one chunk with
    offsets of 32 bits) or RuntimeError (the key has encrypted enough).

    >>> import pyarrow as pa
    >>> key = Key(bytes(range(32)))
    >>> ids = pa.array([7, 8])
    >>> decrypt(encrypt(ids, key, type="int64"), key, type="int64") == ids
    True
    >>> cells = encrypt(pa.array(["a", "b"]), key, rows=ids)
    >>> key.used
    4
    >>> decrypt(cells.take([1, 0]), key, rows=ids)
    Traceback (most recent call last):
    ...
    lanecrypt.InvalidTag: row 0: the cell is not authentic: a changed or moved cell, another key or \
layout, a missing context or other rows
    """
    key, context, kind = as_key(key, layout), as_bytes(context), _types.to_type(type)
    own, kind = _types.bound(context, kind), getattr(kind, "type", kind)

    def work(values: Any, of_rows: Any) -> Any:
        return key._encrypt(values, context=own, rows=of_rows, threads=threads)

    if kind is None and progress is False:
        return _frames.like(column, work(_frames.arrow(column), _frames.arrow(rows)))
    values = _frames.pyarrow_column(column)
    if kind is not None and values.type != kind:
        values = values.cast(kind)

    def encode(piece: Any, of_rows: Any) -> Any:
        return work(piece if kind is None else _types.to_bytes(piece), of_rows)

    return _frames.like(column, _by_pieces(values, rows, encode, progress, "encrypt"))


def decrypt(
    column: Any,
    key: Buffer | Key | Keyring,
    *,
    type: Any = None,
    layout: str | None = None,
    context: str | Buffer = b"",
    rows: Any = None,
    on_error: Literal["raise", "null"] = "raise",
    text: bool = False,
    threads: int = 1,
    progress: Progress = False,
) -> Any:
    """Decrypts each cell of a column. NULLs stay NULL.

    Raises InvalidTag with the first row that is not authentic, and what may differ, or UnknownKey with
    the first row whose key the ring does not have or has disabled, unless ``on_error="null"`` makes such
    rows NULL; a ``Key`` counts them as ``failed``, a ``Keyring`` as ``forged`` and ``unknown``. With
    ``text`` the values are text, except those of a fixed size, and UnicodeError is raised where they are
    not. ``type`` is the type that ``encrypt`` was given. Otherwise as ``encrypt``.

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
    key, context, kind = as_key(key, layout), as_bytes(context), _types.to_type(type)
    own, kind = _types.bound(context, kind), getattr(kind, "type", kind)
    text = text or (kind is not None and "string" in str(_types.values_type(kind)) and own == context)

    def work(cells: Any, of_rows: Any) -> Any:
        return key._decrypt(
            cells,
            context=own,
            rows=of_rows,
            null_on_error=on_error == "null",
            text=text,
            threads=threads,
        )

    def decode(cells: Any, of_rows: Any) -> Any:
        made = work(cells, of_rows)
        return made if kind is None else _types.from_bytes(_frames.pyarrow_column(made), kind)

    try:
        if kind is None and progress is False:
            return _frames.like(column, work(_frames.arrow(column), _frames.arrow(rows)))
        cells = _frames.pyarrow_column(column)
        return _frames.like(column, _by_pieces(cells, rows, decode, progress, "decrypt"))
    except InvalidTag as error:
        causes = [] if isinstance(key, Keyring) else ["another key or layout"]
        causes += [] if kind is None else ["another type"]
        causes += ["another context" if context else "a missing context"]
        causes += ["missing rows" if rows is None else "other rows"]
        raise explained(error, causes) from None


def rekey(
    column: Any,
    ring: Keyring,
    *,
    type: Any = None,
    context: str | Buffer = b"",
    rows: Any = None,
    threads: int = 1,
    progress: Progress = False,
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
    own, sums = _types.bound(as_bytes(context), _types.to_type(type)), [0] * 4

    def work(cells: Any, of_rows: Any) -> Any:
        made, counts = ring._rekey(cells, context=own, rows=of_rows, threads=threads)
        sums[:] = map(sum, zip(sums, counts, strict=True))
        return made

    if progress is False:
        made = work(_frames.arrow(column), _frames.arrow(rows))
    else:
        made = _by_pieces(_frames.pyarrow_column(column), rows, work, progress, "rekey")
    return Rekeyed(_frames.like(column, made), *sums)


def as_key(key: Buffer | Key | Keyring, layout: str | None) -> Key | Keyring:
    if not isinstance(key, (Key, Keyring)):
        return Key(key) if layout is None else Key(key, layout)
    if layout is not None and layout != key.layout:
        raise ValueError(f"a key for {key.layout}, not for {layout}")
    return key


def as_bytes(context: str | Buffer) -> bytes:
    return context.encode() if isinstance(context, str) else bytes(memoryview(context))


CHANGED = ": a changed or moved cell"


def explained(error: Exception, causes: list[str], name: str | None = None) -> Exception:
    """The error with the name of the column, and for a cell that is not authentic the likely causes."""
    text = str(error)
    if name is not None:
        text = f"column {name!r}, {text.partition(CHANGED)[0]}"
    if text.endswith("is not authentic"):
        text += CHANGED
        for cause in causes:
            text += (" or " if cause == causes[-1] else ", ") + cause
    return type(error)(text)


def _by_pieces(
    column: Any, rows: Any, work: Callable[[Any, Any], Any], progress: Progress, label: str
) -> Any:
    """Does the work on each chunk of a column of pyarrow; with progress, on a part of it at a time."""
    import pyarrow

    is_chunked = isinstance(column, pyarrow.ChunkedArray)
    chunks = column.chunks if is_chunked else [column]
    if not chunks:
        chunks = [pyarrow.nulls(0, column.type)]
    if rows is not None:
        rows = _frames.pyarrow_column(rows)
        if len(rows) != len(column):
            raise ValueError(f"a column of {len(column)} rows, and rows= with {len(rows)}")
    made, first = [], 0
    with shown(progress, len(column), label) as show:
        for chunk in chunks:
            step = len(chunk) if show is None else STEP
            for at in range(0, max(len(chunk), 1), max(step, 1)):
                piece = chunk.slice(at, step)
                of_rows = None if rows is None else rows.slice(first, len(piece))
                try:
                    made.append(_frames.pyarrow_column(work(piece, of_rows)))
                except (InvalidTag, UnknownKey, ValueError) as error:
                    raise _in_row(error, first) from None
                first += len(piece)
                if show is not None:
                    show(first)
    if is_chunked:
        return pyarrow.chunked_array(made)
    return made[0] if len(made) == 1 else pyarrow.concat_arrays(made)


def _in_row(error: Exception, first: int) -> Exception:
    """An error of a piece whose first row is ``first``."""
    found = re.match(r"row (\d+)", str(error))
    if first == 0 or found is None:
        return error
    text = f"row {int(found[1]) + first}{str(error)[found.end() :]}"
    return type(error)(text)
