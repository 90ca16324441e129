"""Columns and tables of other packages: as those of pyarrow, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lanecrypt._lanecrypt import Array, ChunkedArray

# Packages whose tables keep no metadata of columns.
WITHOUT_METADATA = ("polars", "pandas", "duckdb", "_duckdb")


def package(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def arrow(column: Any) -> Any:
    """The column as an object with Arrow's interface."""
    own = package(column)
    if own == "pyarrow" and hasattr(column, "validate"):
        # The interface does not tell the length of buffers. This compares offsets with it.
        column.validate()
    elif own == "pandas":
        import pyarrow

        return pyarrow.array(column, from_pandas=True)
    return column


def pyarrow_column(column: Any) -> Any:
    """The column as an array or chunked array of pyarrow."""
    import pyarrow

    column = arrow(column)
    if isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
        return column
    if isinstance(column, (Array, ChunkedArray)):
        return _pyarrow(column)
    if hasattr(column, "columns"):
        table = pyarrow.table(column)
        if table.num_columns != 1:
            raise TypeError(f"a table of {table.num_columns} columns: take one of them")
        return table.column(0)
    if hasattr(column, "__arrow_c_array__"):
        return pyarrow.array(column)
    if hasattr(column, "__arrow_c_stream__"):
        return pyarrow.chunked_array(column)
    needed = "a column has __arrow_c_array__ or __arrow_c_stream__"
    raise TypeError(f"{type(column)} is not a column: {needed}")


def like(column: Any, made: Any) -> Any:
    """The result as the kind of object that the column was."""
    match package(column):
        case "pyarrow":
            return _pyarrow(made)
        case "polars":
            import polars

            series = isinstance(column, polars.Series)
            return polars.Series(made).alias(column.name if series else column.columns[0])
        case "pandas":
            return _pandas(_pyarrow(made), column.index, column.name)
        case _:
            return made


def taken(frame: Any, names: Iterable[str]) -> Any:
    """These columns of a table without metadata, as a table of pyarrow."""
    import pyarrow

    names = list(names)
    for name in names:
        if list(frame.columns).count(name) != 1:
            raise ValueError(f"no column {name!r}, or several: there are {list(frame.columns)}")
    match package(frame):
        case "polars":
            return frame.select(names).to_arrow()
        case "pandas":
            return pyarrow.table({name: pyarrow.array(frame[name], from_pandas=True) for name in names})
        case _:
            return frame.to_arrow_table()


def put(frame: Any, table: Any, names: Iterable[str], types: Mapping[str, Any] | None = None) -> Any:
    """The table without metadata, with these columns in place of its own; as these types of polars."""
    match package(frame):
        case "polars":
            import polars

            made = [polars.Series(name, table.column(name)) for name in names]
            kinds = {name: kind for name, kind in (types or {}).items() if _is_of_polars(kind)}
            return frame.with_columns(made).cast(kinds)
        case "pandas":
            frame = frame.copy(deep=False)
            for name in names:
                frame[name] = _pandas(table.column(name), frame.index, name)
            return frame
        case _:
            # In the connection that the relation belongs to; DuckDB finds the variable.
            lanecrypt_table = table
            return frame.query("lanecrypt_relation", "select * from lanecrypt_table")


def lazily(frame: Any, types: Mapping[str, Any], work: Any) -> Any:
    """A LazyFrame of polars, whose batches are changed by a function; these columns get these types."""
    schema = dict(frame.collect_schema())
    if missing := types.keys() - schema.keys():
        raise ValueError(f"no such columns: {sorted(missing)}; there are {[*schema]}")
    for name, kind in types.items():
        schema[name] = kind if _is_of_polars(kind) else _polars_type(kind)
    # A filter of encrypted columns must not be applied to what they were before.
    return frame.map_batches(
        work, schema=schema, predicate_pushdown=False, projection_pushdown=False, streamable=True
    )


def _is_of_polars(kind: Any) -> bool:
    import polars

    return isinstance(kind, (polars.DataType, polars.datatypes.DataTypeClass))


def _polars_type(kind: Any) -> Any:
    import polars
    import pyarrow

    return polars.Series(pyarrow.nulls(0, kind)).dtype


def _pandas(made: Any, index: Any, name: Any) -> Any:
    import pandas

    return pandas.Series(pandas.arrays.ArrowExtensionArray(made), index=index, name=name)


def _pyarrow(made: Any) -> Any:
    import pyarrow

    if isinstance(made, Array):
        return pyarrow.array(made)
    return pyarrow.chunked_array(made) if isinstance(made, ChunkedArray) else made
