"""Dictionaries whose order has a meaning: kept in the metadata of their column, as a cell."""

from __future__ import annotations

import base64
from typing import Any

from lanecrypt._column import decrypt, encrypt, rekey
from lanecrypt._lanecrypt import InvalidTag, Key, Keyring, UnknownKey
from lanecrypt._metadata import DICTIONARY


def is_ordered(kind: Any) -> bool:
    import pyarrow.types as types

    kind = getattr(kind, "type", kind)
    return bool(types.is_dictionary(kind) and kind.ordered)


def sealed_dictionary(values: Any, key: Key | Keyring, context: str) -> str:
    """The dictionary of a column, as a cell in base64: a list of its values."""
    import pyarrow

    if isinstance(values, pyarrow.ChunkedArray):
        chunks = values.unify_dictionaries().chunks
        values = chunks[0] if chunks else pyarrow.nulls(0, values.type)
    dictionary = values.dictionary
    whole = pyarrow.LargeListArray.from_arrays([0, len(dictionary)], dictionary)
    cells = encrypt(whole, key, type=whole.type, context=DICTIONARY + context)
    return base64.b64encode(cells[0].as_py()).decode()


def with_dictionary(values: Any, text: str, name: str, key: Key | Keyring, context: str) -> Any:
    """A column with the dictionary of before."""
    import pyarrow
    import pyarrow.compute as compute

    kind = values.type
    cell = _dictionary_cell(text, name)
    try:
        whole = decrypt(cell, key, type=_list_of(kind.value_type), context=DICTIONARY + context)
    except (InvalidTag, UnknownKey) as error:
        raise type(error)(f"column {name!r}: the dictionary in the metadata: {error}") from None
    dictionary = whole.flatten()

    def own(chunk: Any) -> Any:
        indices = compute.index_in(chunk.dictionary_decode(), dictionary, skip_nulls=True)
        if indices.null_count != chunk.null_count:
            raise ValueError(f"column {name!r}: the dictionary in the metadata is that of other values")
        indices = indices.cast(kind.index_type)
        return pyarrow.DictionaryArray.from_arrays(indices, dictionary, ordered=kind.ordered)

    if isinstance(values, pyarrow.ChunkedArray):
        return pyarrow.chunked_array([own(chunk) for chunk in values.chunks], kind)
    return own(values)


def moved_dictionary(text: str, name: str, ring: Keyring, context: str, kind: Any) -> str:
    """The cell of a dictionary under the primary key of the ring; unchanged if it cannot be moved."""
    cell = _dictionary_cell(text, name)
    moved = rekey(cell, ring, type=_list_of(kind.value_type), context=DICTIONARY + context)
    return base64.b64encode(moved.cells[0].as_py()).decode()


def _dictionary_cell(text: str, name: str) -> Any:
    import pyarrow

    try:
        return pyarrow.array([base64.b64decode(text, validate=True)], pyarrow.large_binary())
    except ValueError:
        raise ValueError(f"column {name!r}: the metadata is not what encrypt_table writes") from None


def _list_of(kind: Any) -> Any:
    import pyarrow

    return pyarrow.large_list(kind)
