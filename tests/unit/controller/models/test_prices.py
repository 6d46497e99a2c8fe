from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from controller.models.prices import find_price
from controller.models.specification import read_settings, specified_settings, specify_model
from controller.models.usage import Usage
from foundation.errors import SpecError

if TYPE_CHECKING:
    from pathlib import Path

ANTHROPIC = "https://api.anthropic.com"
OWN = """\
- {model: "qwen*", from: 2026-01-01, input: 0.5, output: 2}
- {model: "qwen*", from: 2026-06-01, input: 0.4, output: 2, cached: 0.1}
- {model: "qwen3-vl-235b*", from: 2026-01-01, input: 3, output: 9}
- {vendor: anthropic, model: "claude-sonnet-5-5", from: 2026-01-01, input: 1, output: 5}
"""


def test_prices_hold_from_their_date_and_at_the_vendor_only() -> None:
    early = find_price("claude-sonnet-5-5", ANTHROPIC, date(2026, 10, 6))
    late = find_price("claude-sonnet-5-5", ANTHROPIC, date(2026, 10, 7))
    assert early is not None
    assert late is not None
    assert (early.cached, late.cached) == (0.2, 0.1)
    assert find_price("claude-sonnet-5-5", ANTHROPIC, date(2026, 9, 27)) is None
    assert find_price("claude-sonnet-5-5", "http://127.0.0.1:1", date(2026, 12, 1)) is None
    assert find_price("claude-sonnet-5-5", "http://[::1", date(2026, 12, 1)) is None


def test_own_table_precedes_and_the_longest_pattern_counts(tmp_path: Path) -> None:
    own = tmp_path / "prices.yaml"
    own.write_text(OWN)
    day = date(2026, 11, 1)
    small = find_price("Qwen3-VL-8B", "http://host/v1", day, own)
    large = find_price("qwen3-vl-235b-a22b", "http://host/v1", day, own)
    claude = find_price("claude-sonnet-5-5", ANTHROPIC, day, own)
    assert [price and (price.input, price.cached) for price in (small, large, claude)] == [
        (0.4, 0.1),
        (3, None),
        (1, None),
    ]


@pytest.mark.parametrize(
    "text", ["- {model: a}", "a: [", "- {model: a, from: x, input: 1, output: 1}"]
)
def test_invalid_table_is_named(tmp_path: Path, text: str) -> None:
    own = tmp_path / "prices.yaml"
    own.write_text(text)
    with pytest.raises(SpecError, match=r"prices\.yaml"):
        find_price("a", "http://host", date(2026, 1, 1), own)
    with pytest.raises(SpecError, match="cannot be read"):
        find_price("a", "http://host", date(2026, 1, 1), tmp_path / "none.yaml")


def test_cached_tokens_have_a_price_of_their_own_and_are_counted_once() -> None:
    usage = Usage(1_000_000, 200_000, cached_tokens=400_000, reasoning_tokens=150_000)
    assert usage.priced(2.0, 10.0).usd == pytest.approx(2.0 + 2.0)
    assert usage.priced(2.0, 10.0, 0.5).usd == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 2.0)
    assert Usage(1_000_000, 0).priced(2.0, 10.0, 0.5).usd == pytest.approx(2.0)


def test_run_keeps_the_prices_it_began_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "prices.yaml"
    own.write_text(OWN)
    monkeypatch.setenv("MESOCOSM_MODEL_PRICE_TABLE", str(own))
    settings = read_settings(name="qwen3-vl-8b", base_url="http://host/v1", family="auto")
    assert settings.prices == (0.4, 2.0, 0.1)
    assert (settings.family, settings.history, settings.pictures) == ("qwen3-vl", 50, 4)
    spec = specify_model(settings, "")
    assert spec.has_prices
    own.write_text(OWN.replace("0.4", "7"))
    now = read_settings(name="qwen3-vl-8b", base_url="http://host/v1", family="auto")
    assert now.prices[0] == 7
    assert specified_settings(spec, now).prices == (0.4, 2.0, 0.1)
    monkeypatch.setenv("MESOCOSM_MODEL_USD_PER_MTOK_PROMPT", "9")
    chosen = read_settings(name="qwen3-vl-8b", base_url="http://host/v1")
    assert chosen.prices == (9.0, 0.0, None)


def test_address_is_that_of_the_vendor_by_default() -> None:
    assert read_settings(adapter="anthropic", name="m").base_url == ANTHROPIC
    assert read_settings(adapter="google", base_url="http://host").base_url == "http://host"
    assert read_settings(adapter="openai").base_url == ""
