"""How far a long column is: a bar of tqdm, lines on stderr, or calls of a function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = bool | Callable[[int, int], object]

# Rows that are done between two calls.
STEP = 1 << 18


@contextmanager
def shown(progress: Progress, total: int, label: str) -> Iterator[Callable[[int], None] | None]:
    """A function that takes how many rows of ``total`` are done; ``None`` without progress."""
    if progress is False:
        yield None
    elif callable(progress):
        report = progress
        yield lambda done: void(report(done, total))
    else:
        try:
            from tqdm import tqdm
        except ImportError:
            yield _lines(total, label)
            return
        with tqdm(total=total, desc=label, unit=" rows", unit_scale=True) as bar:
            yield lambda done: void(bar.update(done - bar.n))


def void(_: object) -> None:
    """Nothing, whatever a function returns."""


def _lines(total: int, label: str) -> Callable[[int], None]:
    """A line each second, and one at the end."""
    last = time.monotonic()

    def report(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done >= total or now - last >= 1:
            last = now
            print(f"{label}: {done:,} of {total:,} rows", file=sys.stderr, flush=True)

    return report
