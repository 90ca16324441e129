"""A table of polars that is larger than memory: a column is encrypted while the table streams through.

    python polars_batches.py IN.parquet OUT.parquet COLUMN
"""

import sys

import polars as pl

from lanecrypt import columns
from lanecrypt.keys import Environment


def encrypt_column(path_in: str, path_out: str, name: str) -> None:
    # LANECRYPT_KEY_TABLE in the environment: 64 hexadecimal digits.
    key = columns.Key(Environment()("table"), "aes_gcm_siv")

    def encrypt(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.with_columns(columns.encrypt(batch[name], key, context=name).alias(name))

    table = pl.scan_parquet(path_in)
    schema = dict(table.collect_schema()) | {name: pl.Binary}
    table.map_batches(encrypt, schema=schema, streamable=True).sink_parquet(path_out)


if __name__ == "__main__":
    encrypt_column(*sys.argv[1:])
