"""A dataset of Ray: a column is encrypted by tasks on any number of machines.

    python ray_batches.py IN.parquet OUT_FOLDER COLUMN
"""

import os
import sys

import ray

from lanecrypt import columns
from lanecrypt.keys import Environment


class Encrypt:
    """Fetches the key once, where it runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        # LANECRYPT_KEY_TABLE in the environment of the workers: 64 hexadecimal digits.
        self.key = columns.Key(Environment()("table"), "aes_gcm_siv")

    def __call__(self, table):
        place = table.schema.get_field_index(self.name)
        cells = columns.encrypt(table.column(place), self.key, context=self.name)
        return table.set_column(place, self.name, cells)


def encrypt_column(path_in: str, path_out: str, name: str) -> None:
    dataset = ray.data.read_parquet(os.path.abspath(path_in))
    encrypted = dataset.map_batches(
        Encrypt,
        fn_constructor_args=(name,),
        batch_format="pyarrow",
        # Reading and writing need processors, too: actors that hold all of them wait for ever.
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=2),
        num_cpus=0.5,
    )
    encrypted.write_parquet(os.path.abspath(path_out))


if __name__ == "__main__":
    encrypt_column(*sys.argv[1:])
