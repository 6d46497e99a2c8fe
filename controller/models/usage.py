"""The usage of a model: tokens by kind, and their price."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

MAX_TOKENS = 10**9
"""Limit per request and direction; larger counts are ignored as invalid."""

_PATIENCE_S = 0.5

Tokens = tuple[int | None, int | None, int | None, int | None]
"""Input, output, cached and reasoning tokens; None for unknown ones."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of a model, as counted by its endpoint; None is unknown, which is not 0.

    Attributes:
        input_tokens: tokens sent, including cached ones.
        output_tokens: tokens received, including those of reasoning.
        usd: price in US dollars; 0 if the prices are unknown.
        cached_tokens: tokens sent that the endpoint had cached.
        reasoning_tokens: tokens received that are reasoning.
        is_known: whether tokens sent and received are complete; otherwise they are lower bounds,
            as in the sum of a known and an unknown usage.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    usd: float = 0.0
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    is_known: bool = True

    def __post_init__(self) -> None:
        """Mark a usage without one of its counts as unknown."""
        if None in {self.input_tokens, self.output_tokens}:
            object.__setattr__(self, "is_known", False)

    @property
    def total(self) -> int:
        """Tokens in both directions; a lower bound if they are not known."""
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    @property
    def tokens(self) -> Tokens:
        """The counts in the order of `Tokens`."""
        return self.input_tokens, self.output_tokens, self.cached_tokens, self.reasoning_tokens

    def __add__(self, other: Usage) -> Usage:
        if NO_USAGE in {self, other}:
            return self if other == NO_USAGE else other
        return Usage(
            _least(self.input_tokens, other.input_tokens),
            _least(self.output_tokens, other.output_tokens),
            self.usd + other.usd,
            _sum(self.cached_tokens, other.cached_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
            is_known=self.is_known and other.is_known,
        )

    def priced(
        self,
        usd_per_mtok_input: float,
        usd_per_mtok_output: float,
        usd_per_mtok_cached: float | None = None,
    ) -> Usage:
        """Return the usage with a price.

        Args:
            usd_per_mtok_input: price of a million tokens sent, US dollars.
            usd_per_mtok_output: price of a million tokens received, US dollars.
            usd_per_mtok_cached: price of a million of the tokens sent that were cached; None if they
                cost as much as others.
        """
        cached = min(self.cached_tokens or 0, self.input_tokens or 0)
        if usd_per_mtok_cached is None:
            cached, usd_per_mtok_cached = 0, 0.0
        sent_usd = ((self.input_tokens or 0) - cached) * usd_per_mtok_input
        sent_usd += cached * usd_per_mtok_cached
        received_usd = (self.output_tokens or 0) * usd_per_mtok_output
        return replace(self, usd=(sent_usd + received_usd) / 1e6)

    def to_dict(self) -> dict[str, int | None]:
        """Return the tokens by kind, for reports; None for unknown ones."""
        return {
            "prompt": self.input_tokens,
            "completion": self.output_tokens,
            "cached": self.cached_tokens,
            "reasoning": self.reasoning_tokens,
        }


NO_USAGE = Usage(0, 0, 0.0, 0, 0)
"""The usage of an agent that asks no model."""


def usage_of(tokens: Tokens, usd: float = 0.0) -> Usage:
    """Return the usage with these counts."""
    sent, received, cached, reasoning = tokens
    return Usage(sent, received, usd, cached, reasoning)


class UsageMeter:
    """Adds up the usage of one trial's replies; thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open = 0
        self._usage = NO_USAGE

    def begin(self) -> None:
        """Note that a reply begins; its usage follows."""
        with self._changed:
            self._open += 1

    def end(self, usage: Usage) -> None:
        """Add the usage of a reply that ends."""
        with self._changed:
            self._open -= 1
            self._usage += usage
            self._changed.notify_all()

    def take(self) -> Usage:
        """Return the usage since the last call.

        Replies that a program has just read may not have ended yet: they are waited for, shortly.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._open, timeout=_PATIENCE_S)
            usage, self._usage = self._usage, NO_USAGE
            return usage


def _least(first: int | None, second: int | None) -> int | None:
    """Return the sum of what is known: a lower bound; None if nothing is known."""
    return None if first is None and second is None else (first or 0) + (second or 0)


def _sum(first: int | None, second: int | None) -> int | None:
    """Return a sum, unknown if a part is unknown."""
    return None if first is None or second is None else first + second
