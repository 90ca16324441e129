"""Values of all types of Arrow as bytes, and back, by the encoding that the package's README describes;
and types as text.
"""

from __future__ import annotations

import base64
import json
from typing import Any

PREFIX = b"lanecrypt.type\0"

EXTENSION = b"ARROW:extension:"

# Rows of lists and structs that are encoded together: it takes some times the memory of their bytes.
_ROWS = 1 << 15

# Arrow's own names of types without parameters in its interface for C, which never change.
_FORMATS = {
    "null": "n", "bool_": "b", "int8": "c", "uint8": "C", "int16": "s", "uint16": "S", "int32": "i",
    "uint32": "I", "int64": "l", "uint64": "L", "float16": "e", "float32": "f", "float64": "g",
    "date32": "tdD", "date64": "tdm", "month_day_nano_interval": "tin",
}  # fmt: skip


def is_bytes(kind: Any) -> bool:
    """Whether the values are bytes or text, and of no extension type."""
    import pyarrow
    import pyarrow.types as types

    if isinstance(kind, pyarrow.Field):
        return False
    return bool(types.is_fixed_size_binary(kind)) or _has_offsets(kind)


def _has_offsets(kind: Any) -> bool:
    import pyarrow.types as types

    bytes_kinds = (types.is_binary, types.is_large_binary, types.is_binary_view)
    text_kinds = (types.is_string, types.is_large_string, types.is_string_view)
    return any(is_kind(kind) for is_kind in bytes_kinds + text_kinds)


def _is_list(kind: Any) -> bool:
    import pyarrow.types as types

    kinds = (types.is_list, types.is_large_list, types.is_list_view, types.is_large_list_view)
    return any(is_kind(kind) for is_kind in kinds)


def bound(context: bytes, kind: Any) -> bytes:
    """The associated data of cells of a type: other bytes for each context and each way to read values.

    That of bytes and text is the context. Otherwise it is ``lanecrypt.type``, a byte 0, the length of the
    description in 4 bytes, big-endian, the description, and the context.
    """
    if context.startswith(PREFIX):
        raise ValueError(f"a context does not begin with {PREFIX!r}")
    if kind is None or is_bytes(values_type(kind)):
        return context
    text = json.dumps(description(kind), separators=(",", ":")).encode()
    return PREFIX + len(text).to_bytes(4, "big") + text + context


def width(kind: Any) -> int | None:
    """The bytes of each value, if all values of the type have as many."""
    kind = values_type(getattr(kind, "type", kind))
    while hasattr(kind, "storage_type"):
        kind = kind.storage_type
    return _width(kind) or None


def values_type(kind: Any) -> Any:
    """The type of the values of dictionaries and runs."""
    import pyarrow
    import pyarrow.types as types

    if isinstance(kind, pyarrow.Field):
        return kind
    while types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        kind = kind.value_type
    return kind


def description(kind: Any) -> Any:
    """What decides how values are read, for JSON: formats of Arrow's interface for C, and lists of them.

    It leaves out how Arrow keeps values: the kinds of text, bytes and lists with offsets of 32 or 64 bits
    or with views, dictionaries, runs, whether there may be NULLs, and the metadata of fields.
    """
    import pyarrow
    import pyarrow.types as types

    if isinstance(kind, pyarrow.Field):
        # The type may be an extension type that this process does not know.
        name = (kind.metadata or {}).get(EXTENSION + b"name")
        if name is None:
            return description(kind.type)
        return _extension(name.decode(), (kind.metadata or {}).get(EXTENSION + b"metadata", b""), kind.type)
    kind = values_type(kind)
    if isinstance(kind, pyarrow.BaseExtensionType):
        parameters = getattr(kind, "__arrow_ext_serialize__", bytes)()
        return _extension(kind.extension_name, parameters, kind.storage_type)
    if types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        return ["+s", *([field.name, description(field)] for field in fields)]
    if types.is_map(kind):
        return ["+m", description(kind.key_field), description(kind.item_field)]
    if types.is_fixed_size_list(kind):
        return [f"+w:{kind.list_size}", description(kind.value_field)]
    if _is_list(kind):
        return ["+l", description(kind.value_field)]
    if types.is_fixed_size_binary(kind):
        return f"w:{kind.byte_width}"
    if types.is_decimal(kind):
        bits = "" if kind.bit_width == 128 else f",{kind.bit_width}"
        return f"d:{kind.precision},{kind.scale}{bits}"
    if types.is_timestamp(kind):
        return f"ts{kind.unit[0]}:{kind.tz or ''}"
    if types.is_time(kind):
        return f"tt{kind.unit[0]}"
    if types.is_duration(kind):
        return f"tD{kind.unit[0]}"
    if _has_offsets(kind):
        return "u" if "string" in str(kind) else "z"
    for name, text in _FORMATS.items():
        if kind == getattr(pyarrow, name)():
            return text
    raise TypeError(f"a column of {kind}: there is no encoding of its values; cast it")


def _extension(name: str, parameters: bytes, storage: Any) -> Any:
    # pyarrow does not give the parameters of Arrow's own types.
    shown = "" if name.startswith("arrow.") else parameters.hex()
    return ["x", name, shown, description(storage)]


def kind_of(field: Any) -> Any:
    """The type of a field; a field without a name, if it is an extension type that is not known here."""
    import pyarrow

    metadata = field.metadata or {}
    own = {key: value for key, value in metadata.items() if key.startswith(EXTENSION)}
    return pyarrow.field("", field.type, metadata=own) if own else field.type


def to_texts(kind: Any) -> tuple[str, str | None]:
    """The name of a type, and all of it in base64 if the name is not enough."""
    import pyarrow

    is_field = isinstance(kind, pyarrow.Field)
    name = str(kind.type if is_field else kind)
    try:
        is_enough = str(pyarrow.type_for_alias(name)) == name
    except ValueError:
        is_enough = False
    if not is_field and (is_enough or is_bytes(kind)):
        return name, None
    whole = pyarrow.schema([kind if is_field else pyarrow.field("", kind)]).serialize().to_pybytes()
    return name, base64.b64encode(whole).decode()


def from_texts(name: str, whole: str | None) -> Any:
    """The type. Raises ValueError."""
    import pyarrow

    if whole is not None:
        schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(base64.b64decode(whole, validate=True)))
        if len(schema) == 1:
            return kind_of(schema.field(0))
    if name.startswith("fixed_size_binary[") and name[18:-1].isdecimal():
        return pyarrow.binary(int(name[18:-1]))
    return pyarrow.type_for_alias(name)


def to_type(given: Any) -> Any:
    """The type of Arrow for one of pyarrow or polars, or its name."""
    import pyarrow

    if given is None or isinstance(given, (pyarrow.DataType, pyarrow.Field)):
        return given
    if isinstance(given, str):
        return pyarrow.type_for_alias(given)
    package = (given if isinstance(given, type) else type(given)).__module__.partition(".")[0]
    if package == "polars":
        import polars

        return polars.Series([], dtype=given).to_arrow().type
    raise TypeError(f"a type of pyarrow or polars, or its name, not {given!r}")


def to_bytes(array: Any) -> Any:
    """An array of pyarrow as one of bytes: the encoding of each value."""
    import pyarrow

    array = _values(array)
    kind = array.type
    if is_bytes(kind):
        return array
    if pyarrow.types.is_null(kind):
        return pyarrow.nulls(len(array), pyarrow.binary())
    if width := _width(kind):
        return _viewed(_bits_as_bytes(array), pyarrow.binary(width))
    from lanecrypt._nested import encoded

    parts = [encoded(array.slice(first, _ROWS)) for first in range(0, len(array), _ROWS)]
    return pyarrow.concat_arrays(parts) if parts else pyarrow.array([], pyarrow.large_binary())


def from_bytes(array: Any, kind: Any) -> Any:
    """An array of this type from one of bytes. Raises ValueError if they are no encodings of it."""
    import pyarrow
    import pyarrow.types as types

    own = values_type(kind)
    if isinstance(own, pyarrow.BaseExtensionType):
        return kept_as(_stored(own, from_bytes(array, own.storage_type)), kind)
    if is_bytes(own):
        made = array if array.type == own else _cast(array, own)
    elif types.is_null(own):
        if array.null_count < len(array):
            raise ValueError("a value where there are only NULLs")
        made = pyarrow.nulls(len(array))
    elif width := _width(own):
        made = _bytes_as_bits(_cast(array, pyarrow.binary(width)), own)
    else:
        from lanecrypt._nested import decoded

        array = _cast(array, pyarrow.large_binary())
        parts = []
        for first in range(0, max(len(array), 1), _ROWS):
            try:
                parts.append(decoded(array.slice(first, _ROWS), own))
            except Malformed as error:
                raise ValueError(f"row {first + error.row}: no encoding of {own}") from None
        made = parts[0] if len(parts) == 1 else pyarrow.concat_arrays(parts)
    return kept_as(made, kind)


class Malformed(ValueError):
    """Bytes that are no encoding, in this row."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row}")
        self.row = row


def kept_as(values: Any, kind: Any) -> Any:
    """Values as dictionary or runs, if the type is one."""
    import pyarrow
    import pyarrow.compute as compute
    import pyarrow.types as types

    if types.is_run_end_encoded(kind):
        runs = kept_as(values, kind.value_type)
        return compute.run_end_encode(runs, run_end_type=kind.run_end_type)
    if types.is_dictionary(kind):
        values = kept_as(values, kind.value_type).dictionary_encode()
        indices = values.indices.cast(kind.index_type)
        return pyarrow.DictionaryArray.from_arrays(indices, values.dictionary, ordered=kind.ordered)
    return values


def _values(array: Any) -> Any:
    """The values of dictionaries, runs and extension types."""
    import pyarrow

    while True:
        if isinstance(array, pyarrow.ExtensionArray):
            array = array.storage
        elif isinstance(array, pyarrow.DictionaryArray):
            array = array.dictionary_decode()
        elif isinstance(array, pyarrow.RunEndEncodedArray):
            array = pyarrow.compute.run_end_decode(array)
        else:
            return array


def _stored(kind: Any, storage: Any) -> Any:
    import pyarrow

    return pyarrow.ExtensionArray.from_storage(kind, storage)


def _width(kind: Any) -> int:
    """The bytes of a value; 0 if it has no fixed number of them."""
    import pyarrow.types as types

    if types.is_boolean(kind):
        return 1
    if is_bytes(kind) or types.is_nested(kind) or types.is_null(kind):
        return 0
    return int(kind.bit_width) // 8


def _cast(array: Any, kind: Any) -> Any:
    try:
        return array if array.type == kind else array.cast(kind)
    except (ValueError, NotImplementedError):
        pass
    # Between views, offsets of 64 bits and fixed sizes there is no direct way.
    return array.cast("large_binary").cast("binary").cast(kind)


def _viewed(array: Any, kind: Any) -> Any:
    """The same buffers as another type of the same width."""
    import pyarrow

    return pyarrow.Array.from_buffers(kind, len(array), array.buffers()[:2], offset=array.offset)


def _bits_as_bytes(array: Any) -> Any:
    import pyarrow

    return array.cast(pyarrow.uint8()) if pyarrow.types.is_boolean(array.type) else array


def _bytes_as_bits(array: Any, kind: Any) -> Any:
    import pyarrow
    import pyarrow.compute as compute

    if not pyarrow.types.is_boolean(kind):
        return _viewed(array, kind)
    array = _viewed(array, pyarrow.uint8())
    if (compute.max(array).as_py() or 0) > 1:
        raise ValueError("a boolean is one byte, 0 or 1")
    return array.cast(kind)
