"""The token usage that Anthropic's API reports.

``input_tokens`` are only those that were neither written to the cache nor read from it; ``output_tokens``
include those of thinking. Source: Anthropic, "Prompt caching: tracking cache performance", and the SDK's
``types/usage.py`` (2.12).
"""

from __future__ import annotations

from controller.models.json_bodies import token_count
from controller.models.usage import MAX_TOKENS, Usage

_WRITTEN, _READ = "cache_creation_input_tokens", "cache_read_input_tokens"


def count_tokens(usage: object) -> Usage:
    """Return the tokens that a usage reports, without a price."""
    plain, written, read = (
        token_count(usage, name, MAX_TOKENS) for name in ("input_tokens", _WRITTEN, _READ)
    )
    sent = None if plain is None else plain + (written or 0) + (read or 0)
    received = token_count(usage, "output_tokens", MAX_TOKENS)
    details = usage.get("output_tokens_details") if isinstance(usage, dict) else None
    reasoning = token_count(details, "thinking_tokens", MAX_TOKENS)
    return Usage(sent, received, cached_tokens=read, reasoning_tokens=reasoning)


def usage_warnings(usage: object) -> tuple[str, ...]:
    """Return what is wrong with a usage, in words that are the same for each request."""
    if not isinstance(usage, dict):
        return ("usage is missing: tokens are not counted",)
    names = ("input_tokens", "output_tokens")
    return tuple(
        f"usage is invalid: {name} are not counted"
        for name in names
        if token_count(usage, name, MAX_TOKENS) is None
    )
