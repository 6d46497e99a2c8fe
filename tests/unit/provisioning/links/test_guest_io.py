from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from foundation.errors import (
    GuestCallError,
    InvalidActionError,
    LinkProtocolError,
    LinkTimeoutError,
)
from provisioning.links.guest_io import LinkInput

if TYPE_CHECKING:
    from provisioning.protocols import Json, Link


class Probe:
    """A probe that types some characters of each part."""

    def __init__(self, *typed: int) -> None:
        self.typed = list(typed)
        self.text = ""
        self.parts: list[tuple[str, float]] = []
        self.reply: Json = None

    def call(self, op: str, params: dict[str, Any], *, timeout_s: float) -> Json:
        if op == "prepare_keys":
            return self.reply
        part = str(params["text"])
        self.parts.append((part, timeout_s))
        count = min(len(part), self.typed.pop(0) if self.typed else len(part))
        self.text += part[:count]
        return {"typed": count}


def hands(probe: Probe) -> LinkInput:
    return LinkInput(cast("Link", probe))


def test_long_text_is_sent_in_parts_with_a_time_limit_each() -> None:
    probe, text = Probe(), "".join(chr(0x4E00 + number) for number in range(1050))
    hands(probe).text(text)
    assert probe.text == text
    assert max(len(part) for part, _ in probe.parts) <= 200
    assert {timeout_s for _, timeout_s in probe.parts} == {90.0}


def test_what_a_slow_guest_did_not_type_is_sent_again() -> None:
    probe, text = Probe(64, 0, 30, 0, 0, 1), "0123456789" * 30
    hands(probe).text(text)
    assert probe.text == text
    assert probe.parts[1][0].startswith(text[64:90])


def test_guest_that_types_nothing_at_all_is_reported() -> None:
    probe = Probe(5, 0, 0, 0)
    with pytest.raises(LinkTimeoutError, match="types nothing"):
        hands(probe).text("x" * 20)
    assert len(probe.parts) == 4


def test_control_character_is_refused_before_the_first_part() -> None:
    probe = Probe()
    with pytest.raises(InvalidActionError, match="0007"):
        hands(probe).text("x" * 500 + "\a")
    assert probe.parts == []


def test_prepared_keys_are_returned() -> None:
    probe = Probe()
    probe.reply = {"codes": [50, 16], "is_bound": True}
    prepared = hands(probe).prepare_keys(["/"], [16, 50])
    assert (prepared.codes, prepared.is_bound) == ([50, 16], True)


@pytest.mark.parametrize("reply", [None, {}, {"codes": [], "is_bound": False}, {"codes": "a"}])
def test_invalid_reply_is_a_fault_of_the_guest(reply: Json) -> None:
    probe = Probe()
    probe.reply = reply
    with pytest.raises(LinkProtocolError):
        hands(probe).prepare_keys(["/"], [16])


@pytest.mark.parametrize(
    ("kind", "error"), [("unsupported", InvalidActionError), ("no_session", GuestCallError)]
)
def test_refused_keys_are_the_agents_fault(kind: str, error: type[Exception]) -> None:
    class Refusing(Probe):
        def call(self, op: str, params: dict[str, Any], *, timeout_s: float) -> Json:
            del op, params, timeout_s
            failure = GuestCallError("failed", details=kind)
            failure.kind = kind
            raise failure

    with pytest.raises(error):
        hands(Refusing()).prepare_keys(["/"], [16])
