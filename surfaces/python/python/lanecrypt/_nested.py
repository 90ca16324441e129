"""Lists and structs as bytes, and back, by NumPy.

Each step works on all rows together, so that there is no loop over values.
"""

from __future__ import annotations

from typing import Any

import numpy
import pyarrow
import pyarrow.compute as compute
import pyarrow.types as types

from lanecrypt._types import (
    Malformed,
    _bits_as_bytes,
    _cast,
    _has_offsets,
    _is_list,
    _stored,
    _values,
    _viewed,
    _width,
    kept_as,
    values_type,
)

_Numbers = Any  # of int64, one for each row
_LONGEST = 2**32 - 1


def encoded(array: Any) -> Any:
    """The encoding of each value, as large binary."""
    array = _cast_nested(array, _without_views(array.type))
    is_valid = _validity(array)
    values = array.drop_null() if array.null_count else array
    parts: list[tuple[_Numbers, Any]] = []
    _put_values(parts, values, numpy.ones(len(values), numpy.int64))

    # The parts of a row stand one after the other.
    lengths = sum((own for own, _ in parts), numpy.zeros(len(values), numpy.int64))
    places = numpy.cumsum(lengths) - lengths
    data = numpy.empty(int(lengths.sum()), numpy.uint8)
    for own, part in parts:
        data[_spread(places, own)] = part
        places = places + own
    whole = numpy.zeros(len(array), numpy.int64)
    whole[is_valid.astype(bool)] = lengths
    bits = None
    if array.null_count:
        bits = pyarrow.py_buffer(numpy.packbits(is_valid, bitorder="little"))
    buffers = [bits, pyarrow.py_buffer(_offsets(whole)), pyarrow.py_buffer(data)]
    return pyarrow.Array.from_buffers(pyarrow.large_binary(), len(array), buffers)


def decoded(array: Any, kind: Any) -> Any:
    """The values of these encodings, which are large binary. Raises ``Malformed`` with a row."""
    is_valid = _validity(array).astype(bool)
    offsets = _numbers(array.buffers()[1], numpy.int64, array)
    offsets = offsets if len(offsets) else numpy.zeros(1, numpy.int64)
    data = _numbers(array.buffers()[2], numpy.uint8)
    reader = _Reader(data, offsets[:-1][is_valid], offsets[1:][is_valid], numpy.flatnonzero(is_valid))
    own = _without_views(kind)
    values = _get_values(reader, own, numpy.ones(int(is_valid.sum()), numpy.int64))
    reader.check(reader.at == reader.ends)
    made = _with_nulls(values, is_valid)
    made.validate()
    return _cast_nested(made, kind)


def _without_views(kind: Any) -> Any:
    """The type with offsets in place of views of text and bytes, which pyarrow cannot filter."""
    if types.is_string_view(kind):
        return pyarrow.large_string()
    if types.is_binary_view(kind):
        return pyarrow.large_binary()

    def own(field: Any) -> Any:
        return field.with_type(_without_views(field.type))

    if types.is_struct(kind):
        return pyarrow.struct([own(kind.field(at)) for at in range(kind.num_fields)])
    if types.is_map(kind):
        return pyarrow.map_(own(kind.key_field), own(kind.item_field), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pyarrow.list_(own(kind.value_field), kind.list_size)
    if types.is_list(kind):
        return pyarrow.list_(own(kind.value_field))
    if types.is_large_list(kind):
        return pyarrow.large_list(own(kind.value_field))
    if _is_list(kind) and _without_views(kind.value_type) != kind.value_type:
        raise TypeError(f"a column of {kind}: views of lists of views; cast it")
    return kind


def _cast_nested(array: Any, kind: Any) -> Any:
    return array if array.type == kind else array.cast(kind)


def _put(parts: list[tuple[_Numbers, Any]], array: Any, counts: _Numbers) -> None:
    """Appends elements, of which the rows have so many."""
    array = _values(array)
    is_valid = _validity(array)
    parts.append((counts, is_valid))
    if array.null_count:
        counts, array = _sums(is_valid, counts), array.drop_null()
    _put_values(parts, array, counts)


def _put_values(parts: list[tuple[_Numbers, Any]], array: Any, counts: _Numbers) -> None:
    """Appends values, none of them NULL."""
    array = _values(array)
    kind = array.type

    def put_lengths(lengths: Any) -> _Numbers:
        lengths = lengths.cast(pyarrow.int64()).to_numpy(zero_copy_only=False)
        if len(lengths) and lengths.max() > _LONGEST:
            raise OverflowError("a list or a text of more than 2^32 - 1 elements or bytes")
        parts.append((4 * counts, lengths.astype("<u4").view(numpy.uint8)))
        return _sums(lengths, counts)

    if types.is_null(kind):
        return
    if width := _byte_width(kind):
        array = _viewed(_bits_as_bytes(array), pyarrow.binary(width))
        data = _numbers(array.buffers()[1], numpy.uint8)
        first = array.offset * width
        parts.append((width * counts, data[first : first + len(array) * width]))
    elif types.is_fixed_size_binary(kind):
        return  # Of no bytes.
    elif _has_offsets(kind):
        array = _cast(array, pyarrow.large_binary())
        lengths = put_lengths(compute.binary_length(array))
        offsets = _numbers(array.buffers()[1], numpy.int64, array)
        data = _numbers(array.buffers()[2], numpy.uint8)
        parts.append((lengths, data[offsets[0] : offsets[-1]] if len(array) else data[:0]))
    elif types.is_map(kind):
        offsets = array.offsets
        own = put_lengths(compute.subtract(offsets[1:], offsets[:-1]))
        first, entries = offsets[0].as_py(), offsets[-1].as_py() - offsets[0].as_py()
        for values in (array.keys, array.items):
            _put(parts, values.slice(first, entries), own)
    elif types.is_fixed_size_list(kind):
        _put(parts, array.flatten(), kind.list_size * counts)
    elif _is_list(kind):
        _put(parts, array.flatten(), put_lengths(compute.list_value_length(array)))
    elif types.is_struct(kind):
        for field in array.flatten():
            _put(parts, field, counts)
    else:
        raise TypeError(f"a column of {kind}: there is no encoding of its values; cast it")


class _Reader:
    """The bytes of rows: where each of them is read, and where it ends."""

    def __init__(self, data: Any, at: _Numbers, ends: _Numbers, rows: _Numbers) -> None:
        self.data, self.at, self.ends, self.rows = data, at, ends, rows

    def check(self, is_sound: Any) -> None:
        if not is_sound.all():
            raise Malformed(int(self.rows[numpy.argmin(is_sound)]))

    def take(self, lengths: _Numbers) -> Any:
        """The next bytes of each row, one after the other."""
        self.check(lengths <= self.ends - self.at)
        taken = self.data[_spread(self.at, lengths)]
        self.at = self.at + lengths
        return taken

    def flags(self, counts: _Numbers) -> Any:
        """Bytes that are 0 or 1, so many of each row."""
        taken = self.take(counts)
        self.check(_sums(taken > 1, counts) == 0)
        return taken.astype(bool)

    def lengths(self, counts: _Numbers) -> _Numbers:
        return self.take(4 * counts).view("<u4").astype(numpy.int64)


def _get(reader: _Reader, kind: Any, counts: _Numbers) -> Any:
    """Elements, of which the rows have so many."""
    is_valid = reader.flags(counts)
    return _with_nulls(_get_values(reader, kind, _sums(is_valid, counts)), is_valid)


def _get_values(reader: _Reader, kind: Any, counts: _Numbers) -> Any:
    """Values, none of them NULL."""
    own = values_type(kind)
    if own != kind:
        return kept_as(_get_values(reader, own, counts), kind)
    if isinstance(kind, pyarrow.BaseExtensionType):
        return _stored(kind, _get_values(reader, kind.storage_type, counts))
    total = int(counts.sum())

    def made(*buffers: Any, children: Any = None) -> Any:
        return pyarrow.Array.from_buffers(kind, total, [None, *buffers], children=children)

    def offsets(lengths: _Numbers, is_large: bool) -> Any:
        positions = _offsets(lengths)
        if not is_large and positions[-1] > 2**31 - 1:
            raise OverflowError(f"lists of more than 2^31 - 1 elements in {kind}")
        return pyarrow.py_buffer(positions if is_large else positions.astype(numpy.int32))

    if types.is_null(kind):
        reader.check(counts == 0)
        return pyarrow.nulls(0)
    if types.is_boolean(kind):
        return pyarrow.array(reader.flags(counts))
    if width := _byte_width(kind):
        return made(pyarrow.py_buffer(reader.take(width * counts)))
    if types.is_fixed_size_binary(kind):
        return made(pyarrow.py_buffer(b""))
    if _has_offsets(kind):
        lengths = reader.lengths(counts)
        data = reader.take(_sums(lengths, counts))
        buffers = [None, pyarrow.py_buffer(_offsets(lengths)), pyarrow.py_buffer(data)]
        values = pyarrow.Array.from_buffers(pyarrow.large_binary(), total, buffers)
        # This checks that text is UTF-8.
        return _cast(values, kind)
    if types.is_map(kind):
        lengths = reader.lengths(counts)
        own = _sums(lengths, counts)
        children = [_get(reader, kind.key_type, own), _get(reader, kind.item_type, own)]
        entries = pyarrow.struct([kind.key_field, kind.item_field])
        child = pyarrow.Array.from_buffers(entries, int(own.sum()), [None], children=children)
        return made(offsets(lengths, False), children=[child])
    if types.is_fixed_size_list(kind):
        return made(children=[_get(reader, kind.value_type, kind.list_size * counts)])
    if _is_list(kind):
        lengths = reader.lengths(counts)
        children = [_get(reader, kind.value_type, _sums(lengths, counts))]
        is_large = types.is_large_list(kind) or types.is_large_list_view(kind)
        places = offsets(lengths, is_large)
        if types.is_list_view(kind) or types.is_large_list_view(kind):
            sizes = lengths if is_large else lengths.astype(numpy.int32)
            return made(places, pyarrow.py_buffer(sizes), children=children)
        return made(places, children=children)
    fields = [kind.field(at) for at in range(kind.num_fields)]
    return made(children=[_get(reader, field.type, counts) for field in fields])


def _byte_width(kind: Any) -> int:
    """As ``_width``, for bytes of a fixed size, too."""
    return int(kind.byte_width) if types.is_fixed_size_binary(kind) else _width(kind)


def _with_nulls(values: Any, is_valid: Any) -> Any:
    """The values with NULLs between them."""
    if is_valid.all():
        return values
    places = numpy.cumsum(is_valid) - 1
    return values.take(pyarrow.array(places, mask=~is_valid))


def _validity(array: Any) -> Any:
    """A byte for each row, 0 for NULL and 1 for others."""
    return array.is_valid().cast(pyarrow.uint8()).to_numpy(zero_copy_only=False)


def _numbers(buffer: Any, kind: Any, array: Any = None) -> Any:
    """A buffer as numbers; those of the offsets of an array if there is one."""
    if buffer is None:
        return numpy.zeros(0, kind)
    numbers = numpy.frombuffer(buffer, kind, buffer.size // numpy.dtype(kind).itemsize)
    return numbers if array is None else numbers[array.offset : array.offset + len(array) + 1]


def _offsets(lengths: _Numbers) -> _Numbers:
    return numpy.concatenate([numpy.zeros(1, numpy.int64), numpy.cumsum(lengths, dtype=numpy.int64)])


def _sums(values: Any, counts: _Numbers) -> _Numbers:
    """The sums of values, of which the rows have so many."""
    ends = numpy.cumsum(counts)
    totals = _offsets(values)
    return totals[ends] - totals[ends - counts]


def _spread(places: _Numbers, lengths: _Numbers) -> Any:
    """The positions of the bytes of parts of these lengths, which begin at these places."""
    total = int(lengths.sum())
    before = numpy.cumsum(lengths) - lengths
    return numpy.repeat(places - before, lengths) + numpy.arange(total)
