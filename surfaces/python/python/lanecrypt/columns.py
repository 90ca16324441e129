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
changed. Values have any type of Arrow but unions, and get it back. Tables of pyarrow remember how their
columns were encrypted, in the metadata of the fields, which Parquet and IPC files keep:

>>> ring = columns.Keyring()
>>> table = pa.table({"id": [1, 2], "ssn": ["078-05-1120", None], "marks": [[1, 2], None]})
>>> sealed = columns.encrypt_table(table, {"ssn": ring, "marks": ring}, rows="id")
>>> ring.set_primary(ring.add())
>>> sealed, counts = columns.rekey_table(sealed, ring)
>>> counts["ssn"].moved
1
>>> columns.decrypt_table(sealed, ring) == table
True

Tables of other packages go in, too. Their columns have no metadata, so it has to be said what they were:

>>> import polars as pl
>>> frame = pl.DataFrame({"id": [1, 2], "age": [30, None]})
>>> sealed = columns.encrypt_table(frame, {"age": ring}, rows="id")
>>> columns.decrypt_table(sealed, {"age": ring}, rows="id", types={"age": pl.Int64}).equals(frame)
True

Deterministic columns of two tables can be joined if they have one key, one type and one context, which is
the column's name unless it is given, and no ``rows``. A dictionary has the cells of its values. Values are
equal if their bytes are: 0.0 and -0.0 are two values, NaN is equal to itself if its bits are, and NULL is
in no cell. Cells of an older key of a ring are others, until ``rekey_table`` has moved them.

>>> ring = columns.Keyring("deterministic")
>>> people = pa.table({"ssn": ["a", "b"], "name": ["Anne", "Berta"]})
>>> visits = pa.table({"visitor": ["b", "b", "c"], "day": [1, 2, 3]})
>>> people = columns.encrypt_table(people, {"ssn": ring}, context={"ssn": "ssn"})
>>> visits = columns.encrypt_table(visits, {"visitor": ring}, context={"visitor": "ssn"})
>>> visits.join(people, "visitor", "ssn", "inner").sort_by("day").select(["day", "name"]).to_pylist()
[{'day': 1, 'name': 'Berta'}, {'day': 2, 'name': 'Berta'}]
"""

from lanecrypt._column import Rekeyed, decrypt, encrypt, rekey
from lanecrypt._lanecrypt import LAYOUTS, Array, ChunkedArray, Key, Keyring, UnknownKey
from lanecrypt._tables import decrypt_table, encrypt_table, rekey_table

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
