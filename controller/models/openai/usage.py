"""The token usage that an endpoint reports, under the names of several APIs.

Sources: OpenAI "Chat Completions: usage" (``prompt_tokens``, ``completion_tokens``) and "Responses:
usage" (``input_tokens``, ``output_tokens``); both have ``total_tokens`` and details with
``cached_tokens`` and ``reasoning_tokens``. Gemini's total also counts reasoning, which its
``completion_tokens`` omit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.models.usage import MAX_TOKENS, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = {
    "prompt_tokens": ("prompt_tokens", "input_tokens"),
    "completion_tokens": ("completion_tokens", "output_tokens"),
}
_TOTAL = "total_tokens"


def count_tokens(usage: object) -> Usage:
    """Return the tokens that a usage reports, without a price.

    Of two counts of one direction the larger is used; invalid counts are unknown. A total that
    exceeds the sum is counted: the difference is added to the prompt tokens if these are missing,
    otherwise to the completion tokens.
    """
    sent, received, total = _counts(usage)
    if _is_sufficient(usage):
        missing = (total or 0) - (sent or 0) - (received or 0)
        if sent is None:
            sent, received = missing, received or 0
        else:
            received = (received or 0) + missing
    cached = _detail(usage, _NAMES["prompt_tokens"], "cached_tokens")
    reasoning = _detail(usage, _NAMES["completion_tokens"], "reasoning_tokens")
    return Usage(sent, received, cached_tokens=cached, reasoning_tokens=reasoning)


def usage_warnings(usage: object) -> Iterator[str]:
    """Yield what is wrong with a usage, in words that are the same for each request."""
    if usage is None:
        yield "usage is missing: tokens are not counted"
        return
    sent, received, total = _counts(usage)
    for name, count in zip(_NAMES, (sent, received), strict=True):
        if count is None and not _is_sufficient(usage):
            yield f"usage is invalid: {name} are not counted{_why_not(usage, name)}"
    known = (sent or 0) + (received or 0)
    if total is not None and total > known:
        yield f"usage is inconsistent: {_TOTAL} exceeds the sum of the others and is counted"
    elif total is not None and total < known:
        yield f"usage is inconsistent: {_TOTAL} is below the sum of the others, which is counted"


def _counts(usage: object) -> tuple[int | None, int | None, int | None]:
    """Return the tokens sent, received, and in total; None for those not reported."""
    sent, received = (_largest(usage, names) for names in _NAMES.values())
    return sent, received, _count(usage, _TOTAL)


def _is_sufficient(usage: object) -> bool:
    """Return whether the total makes up for other counts that are missing."""
    sent, received, total = _counts(usage)
    return total is not None and total >= (sent or 0) + (received or 0)


def _largest(usage: object, names: tuple[str, ...]) -> int | None:
    counts = [count for name in names if (count := _count(usage, name)) is not None]
    return max(counts, default=None)


def _detail(usage: object, names: tuple[str, ...], kind: str) -> int | None:
    """Return a part of a direction's tokens, from the object with its details."""
    details = usage if isinstance(usage, dict) else {}
    counts = (_count(details.get(f"{name}_details"), kind) for name in names)
    return next((count for count in counts if count is not None), None)


def _count(usage: object, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(count, bool) or not isinstance(count, (int, float)):
        return None
    return int(count) if 0 <= count <= MAX_TOKENS else None


def _why_not(usage: object, name: str) -> str:
    value = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        return f"; the value was negative: {value:g}"
    return ""
