"""The token usage that Google's API reports.

``candidatesTokenCount`` does not include ``thoughtsTokenCount``; ``promptTokenCount`` includes cached
tokens, but not those of tools' results. Counts that are 0 are left out. Source: the SDK's
``types.GenerateContentResponseUsageMetadata`` (3.4).
"""

from __future__ import annotations

from controller.models.json_bodies import token_count
from controller.models.usage import MAX_TOKENS, Usage


def count_tokens(usage: object) -> Usage:
    """Return the tokens that a usage reports, without a price."""
    prompt, results, answer, thoughts, cached, total = (
        token_count(usage, name, MAX_TOKENS)
        for name in (
            "promptTokenCount",
            "toolUsePromptTokenCount",
            "candidatesTokenCount",
            "thoughtsTokenCount",
            "cachedContentTokenCount",
            "totalTokenCount",
        )
    )
    if prompt is None:
        return Usage(cached_tokens=cached, reasoning_tokens=thoughts)
    sent = prompt + (results or 0)
    received: int | None = None
    if answer is not None:
        received = answer + (thoughts or 0)
    elif total is not None and total >= sent:
        received = total - sent
    # What is left out of a usage with counts is 0.
    has_output = received is not None
    return Usage(
        sent,
        received,
        cached_tokens=cached or 0,
        reasoning_tokens=thoughts or 0 if has_output else thoughts,
    )


def usage_warnings(usage: object) -> tuple[str, ...]:
    """Return what is wrong with a usage, in words that are the same for each request."""
    if not isinstance(usage, dict):
        return ("usage is missing: tokens are not counted",)
    counted = count_tokens(usage)
    if None in {counted.input_tokens, counted.output_tokens}:
        return ("usage is invalid: tokens are not counted",)
    return ()
