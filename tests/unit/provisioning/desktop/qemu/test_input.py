from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from appliance.base.clock import FakeClock
from appliance.base.errors import InvalidActionError
from provisioning.desktop.qemu.input import VmInput
from provisioning.protocols import Button

if TYPE_CHECKING:
    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.desktop.qemu.screen import VmScreen
    from provisioning.protocols import Frame, Link


class Monitor:
    """Keeps the events that QEMU would get."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def qmp(self, name: str, command: str, arguments: dict[str, Any]) -> None:
        assert (name, command) == ("vm", "input-send-event")
        self.events += arguments["events"]

    def typed(self) -> list[tuple[str, bool]]:
        return [
            (event["data"]["key"]["data"], event["data"]["down"])
            for event in self.events
            if event["type"] == "key"
        ]


class Eyes:
    def last_size(self) -> tuple[int, int]:
        return 1280, 800

    def capture(self) -> Frame:
        return np.zeros((800, 1280, 3), dtype=np.uint8)


class Probe:
    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def call(self, op: str, params: dict[str, Any], *, timeout_s: float) -> None:
        assert timeout_s > 0
        self.calls.append((op, params))


@pytest.fixture
def monitor() -> Monitor:
    return Monitor()


@pytest.fixture
def probe() -> Probe:
    return Probe()


@pytest.fixture
def hands(monitor: Monitor, probe: Probe) -> VmInput:
    return VmInput(
        cast("Hypervisor", monitor),
        "vm",
        cast("VmScreen", Eyes()),
        cast("Link", probe),
        clock=FakeClock(),
    )


@pytest.mark.parametrize(("x", "y"), [(0, 0), (640, 400), (1279, 799), (1, 798)])
def test_pointer_hits_the_requested_pixel(hands: VmInput, monitor: Monitor, x: int, y: int) -> None:
    hands.move(x, y)

    sent = [event["data"]["value"] for event in monitor.events]
    # What a guest makes of the tablet's units.
    assert [value * size // 0x7FFF for value, size in zip(sent, (1280, 800), strict=True)] == [x, y]


@pytest.mark.parametrize("point", [(-1, 0), (1280, 0), (0, 800)])
def test_point_off_the_screen_is_an_invalid_action(hands: VmInput, point: tuple[int, int]) -> None:
    with pytest.raises(InvalidActionError):
        hands.click(*point)


def test_double_click_is_two_presses_at_one_place(hands: VmInput, monitor: Monitor) -> None:
    hands.click(5, 6, button=Button.RIGHT, count=2)

    buttons = [
        (e["data"]["button"], e["data"]["down"]) for e in monitor.events if e["type"] == "btn"
    ]
    assert buttons == [("right", True), ("right", False)] * 2


def test_key_combination_is_released_in_reverse(hands: VmInput, monitor: Monitor) -> None:
    hands.key("ctrl", "alt", "t")

    assert monitor.typed() == [
        ("ctrl", True), ("alt", True), ("t", True), ("t", False), ("alt", False), ("ctrl", False),
    ]  # fmt: skip


def test_no_key_is_pressed_if_one_of_a_combination_is_unknown(
    hands: VmInput, monitor: Monitor
) -> None:
    with pytest.raises(InvalidActionError):
        hands.key("ctrl", "nonsense")

    assert monitor.events == []


def test_drag_releases_the_button_even_off_the_screen(hands: VmInput, monitor: Monitor) -> None:
    with pytest.raises(InvalidActionError):
        hands.drag((10, 10), (5000, 10))

    assert [e["data"]["down"] for e in monitor.events if e["type"] == "btn"] == [True, False]


def test_scrolling_down_turns_the_wheel_down(hands: VmInput, monitor: Monitor) -> None:
    hands.scroll(1, 1, dy=2)

    downs = [
        e["data"]["button"] for e in monitor.events if e["type"] == "btn" and e["data"]["down"]
    ]
    assert downs == ["wheel-down"] * 2


def test_text_is_sent_through_the_probe_whole(
    hands: VmInput, monitor: Monitor, probe: Probe
) -> None:
    hands.text("Ab ☃é\n")

    assert monitor.events == []
    assert probe.calls == [("input", {"kind": "text", "text": "Ab ☃é\n"})]
