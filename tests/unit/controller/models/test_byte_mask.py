"""Secrets in streams, split at any position."""

from __future__ import annotations

import pytest

from controller.models.byte_mask import ByteMask

KEY = "sk-0123/456789"


@pytest.mark.parametrize("written", [KEY, KEY.replace("/", r"\/")])
def test_secret_is_masked_wherever_the_stream_is_split(written: str) -> None:
    text = f"data: {written}, {written[:5]} {written}".encode()
    for cut in range(len(text) + 1):
        mask = ByteMask({KEY})
        assert (
            mask.feed(text[:cut]) + mask.feed(text[cut:]) + mask.rest() == b"data: ***, sk-01 ***"
        )


def test_only_a_possible_secret_prefix_is_held_back() -> None:
    mask = ByteMask({KEY})
    assert mask.feed(b"event: done\n\n") == b"event: done\n\n"
    assert mask.feed(b"ask") == b"a"
    assert mask.feed(b"ew") == b"skew"


def test_ordinary_word_used_as_a_key_is_kept() -> None:
    assert ByteMask({"none"}).feed(b"none of them") == b"none of them"
