from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pytest

from foundation.clock import FakeClock
from foundation.errors import GuestCallError, InvalidActionError, MachineError
from provisioning.desktop.qemu.input import VmInput
from provisioning.protocols import Button

if TYPE_CHECKING:
    from provisioning.desktop.qemu.input_monitor import InputMonitor
    from provisioning.desktop.qemu.screen import VmScreen
    from provisioning.protocols import Frame, Link


class Monitor:
    """Keeps the frames of events that QEMU would get; `delay_s` is how long it takes for them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.sent: list[list[list[dict[str, Any]]]] = []
        self.times_s: list[float] = []
        self.delay_s = 0.0

    def send(self, *frames: list[dict[str, Any]]) -> None:
        self.sent.append(list(frames))
        self.clock.sleep(self.delay_s)
        self.times_s.append(self.clock.monotonic_s())

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for frames in self.sent for frame in frames for event in frame]

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
    """A probe whose layout is that of Germany, as far as the tests go."""

    LAYOUT: ClassVar = {"ctrl": [37], "alt": [64], "t": [28], "z": [29], "/": [50, 16], "ф": [97]}

    def __init__(self, monitor: Monitor) -> None:
        self.monitor = monitor
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.events_at_finish: int | None = None
        self.typed_per_call: int | None = None

    def call(
        self, op: str, params: dict[str, Any] | None = None, *, timeout_s: float
    ) -> dict[str, Any] | bool:
        assert timeout_s > 0
        params = params or {}
        self.calls.append((op, params))
        if op == "prepare_keys":
            return self._prepare(params)
        if op == "finish_keys":
            self.events_at_finish = len(self.monitor.events)
            return True
        most = self.typed_per_call
        return {"typed": len(params["text"]) if most is None else min(most, len(params["text"]))}

    def _prepare(self, params: dict[str, Any]) -> dict[str, Any]:
        if unknown := [name for name in params["names"] if name not in self.LAYOUT]:
            error = GuestCallError("no such key", details=f"unsupported: {unknown[0]}")
            error.kind = "unsupported"
            raise error
        codes = [code for name in params["names"] for code in self.LAYOUT[name]]
        assert set(codes) <= set(params["codes"])
        return {"codes": codes, "is_bound": "ф" in params["names"]}


@pytest.fixture
def monitor() -> Monitor:
    return Monitor(FakeClock())


@pytest.fixture
def probe(monitor: Monitor) -> Probe:
    return Probe(monitor)


@pytest.fixture
def hands(monitor: Monitor, probe: Probe) -> VmInput:
    return VmInput(
        cast("InputMonitor", monitor),
        cast("VmScreen", Eyes()),
        cast("Link", probe),
        clock=monitor.clock,
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
    # A press and its release go together, but not in one frame, where they would cancel each other.
    assert [len(frames) for frames in monitor.sent] == [1, 2, 2]


@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.12])
def test_clicks_of_a_double_click_are_neither_a_bounce_nor_two_clicks(
    hands: VmInput, monitor: Monitor, delay_s: float
) -> None:
    monitor.delay_s = delay_s
    hands.click(5, 6, count=2)
    apart_s = monitor.times_s[2] - monitor.times_s[1]
    assert 0.05 < apart_s < 0.35


def test_clicks_that_came_apart_are_logged(
    hands: VmInput, monitor: Monitor, caplog: pytest.LogCaptureFixture
) -> None:
    hands.click(5, 6, count=2)
    assert not caplog.messages
    monitor.delay_s = 0.4
    hands.click(5, 6, count=2)
    assert caplog.messages == ["two clicks took 470 ms on a busy host"]


def test_key_combination_is_released_in_reverse(hands: VmInput, monitor: Monitor) -> None:
    hands.key("ctrl", "alt", "t")

    assert monitor.typed() == [
        ("ctrl", True), ("alt", True), ("t", True), ("t", False), ("alt", False), ("ctrl", False),
    ]  # fmt: skip
    # Written at once: a busy host would hold a key until it repeats.
    assert [len(frames) for frames in monitor.sent] == [6]


def test_keys_are_those_of_the_guests_layout(
    hands: VmInput, monitor: Monitor, probe: Probe
) -> None:
    hands.key("z")
    hands.key("/")

    assert [key for key, down in monitor.typed() if down] == ["y", "shift", "7"]
    assert [op for op, _ in probe.calls] == ["prepare_keys"] * 2


def test_bound_key_is_released_after_it_was_pressed(
    hands: VmInput, monitor: Monitor, probe: Probe
) -> None:
    hands.key("ф")

    assert monitor.typed() == [("ro", True), ("ro", False)]
    assert probe.events_at_finish == 2


def test_bound_key_is_released_although_qemu_refused_it(
    hands: VmInput, monitor: Monitor, probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_frames: object) -> None:
        raise MachineError("gone")

    monkeypatch.setattr(monitor, "send", refuse)
    with pytest.raises(MachineError):
        hands.key("ф")
    assert probe.events_at_finish == 0


def test_no_key_is_pressed_if_one_of_a_combination_is_refused(
    hands: VmInput, monitor: Monitor
) -> None:
    with pytest.raises(InvalidActionError, match="nonsense"):
        hands.key("ctrl", "nonsense")

    assert monitor.events == []


def test_drag_releases_the_button_even_off_the_screen(hands: VmInput, monitor: Monitor) -> None:
    with pytest.raises(InvalidActionError):
        hands.drag([(10, 10), (5000, 10)])

    assert [e["data"]["down"] for e in monitor.events if e["type"] == "btn"] == [True, False]


def test_drag_goes_along_its_path(hands: VmInput, monitor: Monitor) -> None:
    hands.drag([(10, 10), (20, 10), (20, 30)], button=Button.RIGHT, held=["ctrl"])

    kinds = [(e["type"], e["data"].get("button"), e["data"].get("down")) for e in monitor.events]
    pressed, released = kinds.index(("btn", "right", True)), kinds.index(("btn", "right", False))
    assert kinds[0] == ("key", None, True)
    assert kinds[-1] == ("key", None, False)
    moved = [event["data"] for event in monitor.events[pressed:released] if event["type"] == "abs"]
    xs = [e["value"] * 1280 // 0x7FFF for e in moved if e["axis"] == "x"]
    ys = [e["value"] * 800 // 0x7FFF for e in moved if e["axis"] == "y"]
    assert (max(xs), xs[-1], max(ys), ys[-1]) == (20, 20, 30, 30)
    assert (20, 10) in list(zip(xs, ys, strict=True))


def test_held_keys_are_released_although_the_click_fails(hands: VmInput, monitor: Monitor) -> None:
    with pytest.raises(InvalidActionError):
        hands.click(9999, 1, held=["ctrl", "alt"])

    assert monitor.typed() == [("ctrl", True), ("alt", True), ("alt", False), ("ctrl", False)]


def test_button_stays_down_until_it_is_released(hands: VmInput, monitor: Monitor) -> None:
    hands.button_down(5, 6, button=Button.MIDDLE)
    hands.button_up(50, 60, button=Button.MIDDLE)

    buttons = [e["data"] for e in monitor.events if e["type"] == "btn"]
    assert buttons == [{"down": True, "button": "middle"}, {"down": False, "button": "middle"}]


def test_key_is_held_for_its_time(hands: VmInput, monitor: Monitor) -> None:
    hands.key("t", hold_s=2.5)
    hands.key_down("ctrl")
    hands.key_up("ctrl")

    assert monitor.typed() == [("t", True), ("t", False), ("ctrl", True), ("ctrl", False)]
    assert monitor.times_s[1] - monitor.times_s[0] == 2.5


def test_key_that_would_be_bound_is_not_held(hands: VmInput, probe: Probe) -> None:
    hands.key_down("ctrl")

    assert probe.calls[-1][1]["may_bind"] is False


def test_scrolling_sideways_turns_the_other_wheel(hands: VmInput, monitor: Monitor) -> None:
    hands.scroll(1, 1, dx=-2)

    downs = [
        e["data"]["button"] for e in monitor.events if e["type"] == "btn" and e["data"]["down"]
    ]
    assert downs == ["wheel-left"] * 2


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
