"""Pseudo-random draws that are the same in every process and with every version of Python."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Draws:
    """Draws from one stream; streams with other names are independent.

    It only uses `random.Random.random` with an integer seed, the one sequence that Python keeps
    between versions.

    Source: Python library reference, random, "Notes on Reproducibility".

    Args:
        seed: seed of the persona.
        names: names of the stream.
    """

    def __init__(self, seed: int, *names: str | int) -> None:
        self._seed = seed
        self._names = names
        text = "/".join(map(str, (seed, *names)))
        number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16])
        self._random = random.Random(number).random  # noqa: S311 - it must be reproducible

    def stream(self, *names: str | int) -> Draws:
        """Return another stream, which does not depend on what was drawn from this one."""
        return Draws(self._seed, *self._names, *names)

    def chance(self, probability: float) -> bool:
        """Return True with a probability of 0 to 1."""
        return self._random() < probability

    def integer(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def number(self, low: float, high: float) -> float:
        """Return a number between `low` and `high`."""
        return low + self._random() * (high - low)

    def choice(self, options: Sequence[T]) -> T:
        """Return one of several options."""
        return options[int(self._random() * len(options))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return different options in random order; all of them if there are not more than `count`."""
        left = list(options)
        count = min(count, len(left))
        for place in range(count):
            other = self.integer(place, len(left) - 1)
            left[place], left[other] = left[other], left[place]
        return left[:count]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """Return all options in random order."""
        return self.sample(options, len(options))

    def digits(self, pattern: str) -> str:
        """Return a pattern with a random digit for each ``#`` and a capital letter for each ``@``."""
        letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
        return "".join(
            str(self.integer(0, 9))
            if mark == "#"
            else self.choice(letters)
            if mark == "@"
            else mark
            for mark in pattern
        )
