"""Detect contradictions between a guest's reports and the appliance's own observations.

Evaluators of windows and of Firefox query the guest. The appliance's own observations, QEMU's
screenshot and the requests at the egress proxy, cannot be forged in the guest. This module only
records differences between the two; verdicts do not depend on it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from evaluators.desktop.errors import WrongArgumentError
from evaluators.desktop.urls import page_url
from foundation.errors import MesocosmError
from provisioning.protocols import OutsideScreen

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy.typing as npt

    from evaluators.model.task import Task
    from foundation.clock import Clock
    from provisioning.protocols import Frame, Link, Screen

    Mask = npt.NDArray[np.bool_]

_LOG = logging.getLogger(__name__)
_VISITS = frozenset({"firefox_visited", "firefox_downloaded", "firefox_tab_open"})
_MAX_ATTEMPTS = 1000
"""From this many attempts on, the proxy may have dropped the first ones."""
_MIN_PX = 1024
_MAX_SHARE = 0.95
_CHANGED = 8
_SAME_SHARE = 0.0005
_AGAIN_S = 0.5
_DRAWN_S = 5.0
"""Time within which a new window is drawn, even under software emulation on a busy host."""
_LINK_TIMEOUT_S = 5.0


class _Window(BaseModel):
    """A window, as reported by the guest."""

    model_config = ConfigDict(extra="ignore")

    id: int
    title: str
    geometry: tuple[int, int, int, int]
    """Left, top, width and height in screen px."""
    active: bool


_WINDOWS = TypeAdapter(list[_Window])


class ObservableMachine(Protocol):
    """The observed part of a `provisioning.protocols.Machine`."""

    @property
    def link(self) -> Link:
        """The link to the guest."""
        ...

    @property
    def screen(self) -> Screen:
        """The machine's screen."""
        ...


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A contradiction between a guest's report and the appliance's observation.

    Attributes:
        role: role of the machine.
        guest: what the guest reports.
        appliance: what was observed from outside, and by which component.
    """

    role: str
    guest: str
    appliance: str


@dataclass(frozen=True, slots=True)
class _ScreenState:
    """A machine at one moment: the guest's windows, bottom to top; the appliance's screenshot."""

    windows: tuple[_Window, ...]
    frame: Frame


class ScreenWatch:
    """Compares windows reported by guests with screenshots taken outside the guests.

    Args:
        machines: machines by role; those whose screenshots are taken inside the guest are ignored.
        clock: waits before further comparisons.
    """

    def __init__(self, machines: Mapping[str, ObservableMachine], clock: Clock) -> None:
        self._clock = clock
        self._machines = dict(machines)
        self._seen_by = {
            role: screen.captured_by
            for role, machine in machines.items()
            if isinstance(screen := machine.screen, OutsideScreen)
        }
        self._before: dict[str, _ScreenState] = {}

    def begin(self) -> None:
        """Record the machines' initial windows and screenshots."""
        for role in self._seen_by:
            if look := self._look(role):
                self._before[role] = look

    def disagreements(self) -> tuple[Disagreement, ...]:
        """Return the contradictions that exist now and persist for five seconds."""
        differences = self._compare(self._before)
        deadline_s = self._clock.monotonic_s() + _DRAWN_S
        while differences and self._clock.monotonic_s() < deadline_s:
            self._clock.sleep(_AGAIN_S)
            differences = self._compare(differences)
        return tuple(differences.values())

    def _compare(self, roles: Collection[str]) -> dict[str, Disagreement]:
        looks = {role: self._look(role) for role in roles}
        differences = {
            role: _difference(self._before[role], look) for role, look in looks.items() if look
        }
        return {
            role: Disagreement(role, guest, f"{self._seen_by[role]}'s screenshot {appearance}")
            for role, (guest, appearance) in differences.items()
            if appearance
        }

    def _look(self, role: str) -> _ScreenState | None:
        machine = self._machines[role]
        try:
            rows = machine.link.call("windows", {}, timeout_s=_LINK_TIMEOUT_S)
            windows = _WINDOWS.validate_python(rows)
            return _ScreenState(tuple(windows), machine.screen.capture())
        except (MesocosmError, ValidationError) as exc:
            _LOG.info("cannot compare the windows of %s with its screenshot: %s", role, exc)
            return None


def visits_unseen(
    task: Task, met: Collection[str], attempts: Mapping[str, Sequence[Mapping[str, object]]]
) -> tuple[Disagreement, ...]:
    """Return visits that met nodes although the egress proxy saw no such request.

    Args:
        task: the task of the trial.
        met: ids of its nodes that are met.
        attempts: requests of each machine to its proxy, by role.
    """
    unseen = {}
    for check in [check for node in task.graph if node.id in met for check in node.together]:
        host = _host_of(check.args.get("url")) if check.check in _VISITS else ""
        rows = attempts.get(check.on, ())
        if not host or check.on not in attempts or len(rows) >= _MAX_ATTEMPTS:
            continue
        if not any(row["host"] == host and row["is_allowed"] for row in rows):
            visit = f"{check.check}: a page of {host}"
            unseen[check.on, visit] = Disagreement(
                check.on, visit, f"the egress proxy forwarded no request for {host}"
            )
    return tuple(unseen.values())


def _host_of(url: object) -> str:
    """Return the host of an address that Firefox requests from a proxy; empty for others."""
    try:
        parts = urlsplit(page_url(str(url)))
    except WrongArgumentError:
        return ""
    host = (parts.hostname or "") if parts.scheme in {"http", "https"} else ""
    is_local = (
        host.startswith("127.") or host in {"localhost", "::1"} or host.endswith(".localhost")
    )
    return "" if is_local else host


def _difference(before: _ScreenState, now: _ScreenState) -> tuple[str, str]:
    """Return the guest's report of the front window, and how the screenshot contradicts it, if so."""
    front = next((window for window in now.windows if window.active), None)
    if front is None or before.frame.shape != now.frame.shape:
        return "", ""
    above = now.windows[now.windows.index(front) + 1 :]
    mask = _visible(front, above, now.frame)
    if np.count_nonzero(mask) < _MIN_PX:
        return "", ""
    left, top, width, height = front.geometry
    guest = f"the window {front.title[:80]!r} is in front, {width}x{height} px at {left},{top}"
    if mask.mean() < _MAX_SHARE and _is_blank(now.frame):
        return guest, "of the whole screen has a single colour"
    if _is_new(front, before) and not _has_changed(before.frame, now.frame, mask):
        return guest, "shows no change there since before the window existed"
    return "", ""


def _visible(window: _Window, above: Sequence[_Window], frame: Frame) -> Mask:
    mask = np.zeros(frame.shape[:2], bool)
    mask[_area(window)] = True
    for other in above:
        mask[_area(other)] = False
    return mask


def _area(window: _Window) -> tuple[slice, slice]:
    left, top, width, height = window.geometry
    return slice(max(0, top), max(0, top + height)), slice(max(0, left), max(0, left + width))


def _is_blank(frame: Frame) -> bool:
    return bool((frame[::16, ::16] == frame[0, 0]).all() and (frame == frame[0, 0]).all())


def _is_new(window: _Window, before: _ScreenState) -> bool:
    """Return whether neither this window nor another one was there, ignoring the desktop's own."""
    height, width = before.frame.shape[:2]
    mask = np.zeros((height, width), bool)
    for old in before.windows:
        if old.id == window.id:
            return False
        covers = old.geometry[0] <= 0 and old.geometry[1] <= 0
        if not (covers and old.geometry[2] >= width and old.geometry[3] >= height):
            mask[_area(old)] = True
    return not mask[_area(window)].any()


def _has_changed(before: Frame, now: Frame, mask: Mask) -> bool:
    change = (np.maximum(before, now) - np.minimum(before, now) > _CHANGED).any(axis=2)
    return bool(np.count_nonzero(change & mask) > _SAME_SHARE * np.count_nonzero(mask))
