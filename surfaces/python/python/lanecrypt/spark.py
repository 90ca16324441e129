"""Columns of Spark's tables: encrypted and decrypted on the executors, value by value.

>>> from lanecrypt import spark
>>> from lanecrypt.keys import Environment
>>> sealed = spark.encrypt(people, {"ssn": "people-key"}, keys=Environment())  # doctest: +SKIP
>>> spark.decrypt(sealed, {"ssn": "people-key"}, keys=Environment(), text=["ssn"])  # doctest: +SKIP

Both go through ``mapInArrow``: a task gets batches of Arrow, and gives back the same rows in the same
order. With ``layout="aes_gcm"`` Spark's ``aes_decrypt`` reads the cells, and this reads those of
``aes_encrypt``.

Keys are fetched by the executors (``lanecrypt.keys``). What Spark sees, stores and logs has their names
only. Nonces are random: a task that runs again, or twice at the same time, makes other cells under other
nonces. So the result of a task that ran again differs from that of its first run, as with
``rand()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from lanecrypt import columns as _columns
from lanecrypt._column import as_bytes as _as_bytes
from lanecrypt.keys import Provider, provider

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["decrypt", "encrypt", "register"]

_LAYOUT = "aes_gcm_siv"


def encrypt(
    frame: DataFrame,
    names: Mapping[str, str],
    *,
    keys: Provider,
    layout: str = _LAYOUT,
    context: Mapping[str, bytes | str] | None = None,
    rows: str | None = None,
) -> DataFrame:
    """Encrypts columns of text or bytes; the others stay as they are.

    ``names`` has the name of the key for each column. ``context`` has associated data for columns: cells
    can only be decrypted with the same. ``rows`` is a column, such as the primary key, with associated
    data for each row: cells can only be decrypted in a row with the same value of the same type.

    The encrypted columns are binary. NULL stays NULL.
    """
    from pyspark.sql.types import BinaryType

    task = _Task(names, keys, layout, context, rows)
    return _mapped(frame, task, dict.fromkeys(names, BinaryType()))


def decrypt(
    frame: DataFrame,
    names: Mapping[str, str],
    *,
    keys: Provider,
    layout: str = _LAYOUT,
    context: Mapping[str, bytes | str] | None = None,
    rows: str | None = None,
    text: Iterable[str] = (),
    on_error: Literal["raise", "null"] = "raise",
) -> DataFrame:
    """Decrypts columns that ``encrypt`` has made, with the same keys, layout and associated data.

    The columns of ``text`` become strings, the others are binary. A cell that is not authentic ends the
    task with its row in the batch; with ``on_error="null"`` it becomes NULL.
    """
    from pyspark.sql.types import BinaryType, StringType

    task = _Task(names, keys, layout, context, rows, text=text, on_error=on_error)
    if not task.text <= names.keys():
        others = sorted(task.text - names.keys())
        raise ValueError(f"text= names columns that are not decrypted: {others}")
    types = {name: StringType() if name in task.text else BinaryType() for name in names}
    return _mapped(frame, task, types)


def register(
    session: SparkSession,
    *,
    keys: Provider,
    layout: str = _LAYOUT,
    prefix: str = "lanecrypt_",
) -> None:
    """Registers functions for SQL: ``lanecrypt_encrypt(value, key name [, context [, row]])`` and, with
    the same arguments, ``lanecrypt_decrypt``, which gives bytes, and ``lanecrypt_decrypt_text``.

    The names of keys and the contexts may differ from row to row; each of them in a batch costs a pass
    over it. What differs in every row, such as the primary key, is the argument ``row``.
    """
    from pyspark.sql.functions import arrow_udf

    functions = {
        "encrypt": (_function(_Task({}, keys, layout)), "binary"),
        "decrypt": (_function(_Task({}, keys, layout, on_error="raise")), "binary"),
        "decrypt_text": (_function(_Task({}, keys, layout, on_error="raise", text=("",))), "string"),
    }
    for name, (function, kind) in functions.items():
        function.__name__ = prefix + name
        made = arrow_udf(function, kind)
        if name == "encrypt" and layout != "deterministic":
            # Random nonces: Spark must neither merge nor repeat calls.
            made = made.asNondeterministic()
        session.udf.register(prefix + name, made)


def _mapped(frame: DataFrame, task: _Task, types: Mapping[str, Any]) -> DataFrame:
    """The rows after the task, with other types for some columns."""
    from pyspark.sql.types import BinaryType, StringType, StructField, StructType

    fields = {field.name: field for field in frame.schema.fields}
    if len(fields) != len(frame.schema.fields):
        raise ValueError("two columns have the same name")
    wanted = [*types] if task.rows is None else [*types, task.rows]
    missing = [name for name in wanted if name not in fields]
    if missing:
        raise ValueError(f"no such columns: {missing}; there are {[*fields]}")
    if task.rows in types:
        raise ValueError(f"{task.rows!r} cannot be its own associated data")
    for name in types:
        kind = fields[name].dataType
        if not isinstance(kind, (BinaryType, StringType)):
            raise TypeError(f"column {name!r} is {kind.simpleString()}: cast it to string or binary")
    for name, kind in types.items():
        fields[name] = StructField(name, kind, True)
    schema = StructType([*fields.values()])
    return frame.mapInArrow(task, schema)


class _Task:
    """What an executor does. It is pickled, and has no key in it."""

    def __init__(
        self,
        names: Mapping[str, str],
        keys: Provider,
        layout: str,
        context: Mapping[str, bytes | str] | None = None,
        rows: str | None = None,
        *,
        text: Iterable[str] = (),
        on_error: Literal["raise", "null"] | None = None,
    ) -> None:
        if not isinstance(names, Mapping):
            raise TypeError("the columns are a dict from their names to the names of their keys")
        self.names = dict(names)
        if not all(isinstance(name, str) for name in self.names.values()):
            # They would be in the plan.
            raise TypeError("the columns have names of keys, which are str, and not the keys")
        self.keys = provider(keys)
        if layout not in _columns.LAYOUTS:
            raise ValueError(f"unknown layout {layout!r}; there are {', '.join(_columns.LAYOUTS)}")
        self.layout = layout
        if not isinstance(context, Mapping | None):
            raise TypeError("context= is a dict from the names of columns to bytes or text")
        context = dict(context or {})
        if not context.keys() <= self.names.keys():
            raise ValueError(f"context= names other columns: {sorted(context.keys() - self.names.keys())}")
        self.context = {name: _as_bytes(value) for name, value in context.items()}
        self.rows = rows
        if isinstance(text, str):
            raise TypeError("text= is a list of names")
        self.text = frozenset(text)
        if on_error not in (None, "raise", "null"):
            raise ValueError(f"on_error is 'raise' or 'null', not {on_error!r}")
        self.on_error = on_error

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        keys = {column: self.key(name) for column, name in self.names.items()}
        for batch in batches:
            names = batch.schema.names
            arrays = dict(zip(names, batch.columns, strict=True))
            rows = None if self.rows is None else arrays[self.rows]
            for column, key in keys.items():
                context = self.context.get(column, b"")
                arrays[column] = self.work(arrays[column], key, context, rows, column)
            yield pyarrow.RecordBatch.from_arrays([arrays[name] for name in names], names=names)

    def key(self, name: str) -> _columns.Key | _columns.Keyring:
        key = self.keys(name)
        if not isinstance(key, _columns.Keyring):
            return _columns.Key(key, self.layout)
        if key.layout != self.layout:
            raise ValueError(f"key {name!r} is a ring for {key.layout}, not for {self.layout}")
        return key

    def work(
        self,
        array: pyarrow.Array,
        key: _columns.Key | _columns.Keyring,
        context: bytes,
        rows: pyarrow.Array | None,
        column: str = "",
    ) -> pyarrow.Array:
        if self.on_error is None:
            return _columns.encrypt(array, key, context=context, rows=rows)
        text = column in self.text
        return _columns.decrypt(
            array, key, context=context, rows=rows, text=text, on_error=self.on_error
        )


def _taken(column: Any, places: Any) -> Any:
    """The values at these places, or all of them."""
    return column if places is None else column.take(places)


def _function(task: _Task) -> Callable[..., pyarrow.Array]:
    """The task as a function of columns: values, names of keys, contexts, rows."""
    kept: dict[str, _columns.Key | _columns.Keyring] = {}

    # Without types: Spark takes those that it does not know for another kind of function.
    def apply(values=None, names=None, contexts=None, rows=None, *others):  # type: ignore[no-untyped-def]
        import pyarrow
        import pyarrow.compute as compute

        if names is None or others:
            given = "the name of the key is missing" if names is None else "too many arguments"
            raise ValueError(f"{apply.__name__}(value, key name [, context [, row]]): {given}")
        if not pyarrow.types.is_string(names.type) and not pyarrow.types.is_large_string(names.type):
            raise ValueError(f"{apply.__name__}: the name of a key is a string, not {names.type}")
        parts, places = [], []
        for (name, context), at in _groups(names, contexts):
            if name is None:
                raise ValueError("the name of a key is NULL")
            if contexts is not None and context is None:
                raise ValueError("a context is NULL")
            if name not in kept:
                kept[name] = task.key(name)
            own_rows = None if rows is None else _taken(rows, at)
            parts.append(task.work(_taken(values, at), kept[name], _as_bytes(context or b""), own_rows))
            places.append(at)
        if not parts:
            return pyarrow.array([], "string" if task.text else "binary")
        if places == [None]:
            return parts[0]
        # Back into the order of the rows.
        order = compute.sort_indices(pyarrow.concat_arrays(places))
        return pyarrow.concat_arrays(parts).take(order)

    return apply


def _groups(
    names: pyarrow.Array, contexts: pyarrow.Array | None
) -> Iterator[tuple[tuple[Any, Any], pyarrow.Array | None]]:
    """The rows of each key and context; ``None`` stands for all."""
    import pyarrow.compute as compute

    kinds = [names] if contexts is None else [names, contexts]
    values = [kind.unique().to_pylist() for kind in kinds]
    if contexts is None:
        values.append([None])
    if all(len(those) == 1 for those in values):
        yield (values[0][0], values[1][0]), None
        return
    for name in values[0]:
        for context in values[1]:
            mask = _is(names, name)
            if contexts is not None:
                mask = compute.and_(mask, _is(contexts, context))
            at = compute.indices_nonzero(mask)
            if len(at) > 0:
                yield (name, context), at


def _is(array: pyarrow.Array, value: Any) -> pyarrow.Array:
    import pyarrow.compute as compute

    return array.is_null() if value is None else compute.equal(array, value).fill_null(False)
