"""The parts of each family that have no test of their own: declarations, coordinates, the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.models.families.family import Brief, Family, Screen
from controller.models.families.gestures import Do, FaultKind, Gesture, ParseError, on_screen
from controller.models.families.table import FAMILIES, choose_family, family_texts, find_family
from controller.models.messages import Tool
from controller.models.pictures.sizing import Size
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from controller.models.pictures.coordinates import Place

DESKTOP, PHONE = Size(1280, 800), Size(1080, 2400)
SUBMIT = Tool("session__submit", "Hand in the answer.", {"type": "object"})
each = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def screen(family: Family, size: Size) -> Screen:
    kind = "desktop" if size == DESKTOP else "phone"
    return Screen("computer", kind, size, family.sizer.size(size))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "size", "sent", "place", "point"),
    [
        ("openai-computer", DESKTOP, (1280, 800), (320, 600), (320, 600)),
        ("openai-computer", PHONE, (1080, 2400), (270, 1800), (270, 1800)),
        # 1600 x 900 px are 1440000; 1080 * 2400 = 2592000: divided by 1.34164 is 804 x 1788
        ("openai-computer-preview", PHONE, (804, 1788), (201, 1341), (270, 1800)),
        # 1150000 px: divided by 1.50131 is 719 x 1598, and at most 1568 a side: by 1.53061, 705 x 1568
        ("anthropic-computer-20250124", PHONE, (705, 1568), (176, 1176), (270, 1800)),
        ("anthropic-computer-20251124", DESKTOP, (1280, 800), (320, 600), (320, 600)),
        # 2000 px a side: divided by 1.2
        ("anthropic-toolset-20260801", PHONE, (900, 2000), (225, 1500), (270, 1800)),
        ("anthropic-toolset-20260801", DESKTOP, (1280, 800), (320, 600), (320, 600)),
        ("google-computer", DESKTOP, (1280, 800), (250, 750), (320, 600)),
        ("google-computer", PHONE, (1080, 2400), (250, 750), (270, 1800)),
        # multiples of 32: 1280 x 800; 1080 / 32 = 33.75 -> 34, 2400 / 32 = 75
        ("qwen3-vl", DESKTOP, (1280, 800), (250, 750), (320, 600)),
        ("qwen3-vl", PHONE, (1088, 2400), (250, 750), (270, 1800)),
        ("ui-tars-1.5", DESKTOP, (1288, 812), (322, 609), (320, 600)),
        ("ui-tars-1.5", PHONE, (1092, 2408), (273, 1806), (270, 1800)),
        ("opencua", DESKTOP, (1288, 812), (0.25, 0.75), (320, 600)),
        ("opencua", PHONE, (1092, 2408), (0.25, 0.75), (270, 1800)),
        ("showui", DESKTOP, (1288, 812), (0.25, 0.75), (320, 600)),
        ("showui", PHONE, (672, 1512), (0.25, 0.75), (270, 1800)),
        ("gta1", DESKTOP, (1288, 812), (322, 609), (320, 600)),
        ("gta1", PHONE, (1092, 2408), (273, 1806), (270, 1800)),
    ],
)
def test_places_are_within_1_px_of_those_computed_by_hand(
    name: str, size: Size, sent: tuple[int, int], place: Place, point: tuple[int, int]
) -> None:
    family = find_family(name)
    assert family.sizer.size(size) == sent
    moved = on_screen(Gesture(Do.CLICK, (place,)), family.coordinates, Size(*sent), size)
    assert moved.places[0] == pytest.approx(point, abs=1)
    with pytest.raises(ParseError) as caught:
        on_screen(Gesture(Do.CLICK, ((99_999, 0),)), family.coordinates, Size(*sent), size)
    assert caught.value.kind is FaultKind.OUTSIDE


@each
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_declarations_have_the_task_and_what_the_family_can_call(
    family: Family, size: Size
) -> None:
    brief = Brief("Buy {bread} now.", screen(family, size), (SUBMIT,))
    declared = family.declaration.declare(brief)
    assert "Buy {bread} now." in declared.user
    assert (SUBMIT in declared.tools) is family.has_tools
    natives = [tool.native for tool in declared.tools if tool.native]
    assert len(natives) == family.has_tools
    assert "{" not in declared.system.replace("{'action'", "").replace('{"', "") or natives == []
    assert family.source


@pytest.mark.parametrize(
    ("name", "native"),
    [
        ("openai-computer", {"type": "computer"}),
        (
            "openai-computer-preview",
            {
                "type": "computer_use_preview",
                "display_width": 1280,
                "display_height": 800,
                "environment": "linux",
            },
        ),
        (
            "anthropic-computer-20251124",
            {
                "type": "computer_20251124",
                "name": "computer",
                "display_width_px": 1280,
                "display_height_px": 800,
            },
        ),
        (
            "anthropic-toolset-20260801",
            {"type": "computer_toolset_20260801", "configs": {"zoom": {"enabled": False}}},
        ),
    ],
)
def test_vendors_tools_are_declared_as_published(name: str, native: dict[str, object]) -> None:
    family = find_family(name)
    declared = family.declaration.declare(Brief("x", screen(family, DESKTOP)))
    assert declared.tools[0].native == native


def test_google_has_an_environment_for_each_kind_of_machine() -> None:
    family = find_family("google-computer")
    for size, environment in ((DESKTOP, "ENVIRONMENT_DESKTOP"), (PHONE, "ENVIRONMENT_MOBILE")):
        native = family.declaration.declare(Brief("x", screen(family, size))).tools[0].native
        assert native["computer_use"]["environment"] == environment


@pytest.mark.parametrize(
    ("adapter", "model", "family"),
    [
        ("anthropic", "claude-sonnet-4-5-20250929", "anthropic-computer-20250124"),
        ("anthropic", "claude-sonnet-4-6", "anthropic-computer-20251124"),
        ("anthropic", "claude-opus-5-5", "anthropic-toolset-20260801"),
        ("google", "gemini-3.5-flash", "google-computer"),
        ("openai-responses", "gpt-5.4", "openai-computer"),
        ("openai", "Qwen/Qwen3-VL-8B-Instruct", "qwen3-vl"),
        ("openai", "ByteDance-Seed/UI-TARS-1.5-7B", "ui-tars-1.5"),
    ],
)
def test_family_is_found_by_the_models_name(adapter: str, model: str, family: str) -> None:
    assert choose_family("auto", adapter, model) == family


def test_wrong_choices_are_refused() -> None:
    with pytest.raises(UsageError, match="No family is known"):
        choose_family("auto", "openai", "llama")
    with pytest.raises(UsageError, match="does not carry"):
        choose_family("google-computer", "openai", "gemini-3.5-flash")
    with pytest.raises(UnknownNameError, match="qwen3-vll"):
        choose_family("qwen3-vll", "openai", "m")
    assert choose_family("tools", "toy", "m") == "tools"
    assert family_texts("tools") == ()
    assert family_texts("qwen3-vl") != family_texts("opencua")
