"""The class of random numbers that code for the standard module ``random`` takes."""

import random as _standard
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from lanecrypt import _lanecrypt


class Random(_standard.Random):
    """What ``random.SystemRandom`` is, by Lanecrypt's generator: every method of ``random.Random``.

    >>> numbers = Random()
    >>> numbers.randint(1, 6) in range(1, 7)
    True
    >>> sorted(numbers.sample(range(3), 3))
    [0, 1, 2]

    There is no state to read or to set. Seeds are ignored.
    """

    def random(self) -> float:
        """A random number from 0.0 to below 1.0."""
        return _lanecrypt.random()

    def getrandbits(self, k: int, /) -> int:
        """A random integer of ``k`` bits."""
        return _lanecrypt.randbits(k)

    def randbytes(self, n: int) -> bytes:
        """``n`` random bytes."""
        return _lanecrypt.token_bytes(n)

    # The standard class asks for this name; its own is several calls of `getrandbits`.
    _randbelow: ClassVar[Callable[[int], int]] = staticmethod(_lanecrypt.randbelow)

    def seed(self, *args: Any, **kwds: Any) -> None:
        """Does nothing."""

    def getstate(self) -> NoReturn:
        """Raises NotImplementedError."""
        raise NotImplementedError("Lanecrypt's generator has no state to read")

    def setstate(self, state: Any) -> NoReturn:
        """Raises NotImplementedError."""
        raise NotImplementedError("Lanecrypt's generator has no state to set")
