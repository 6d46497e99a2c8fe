"""Wait until a program shows what it was started for.

A window is not enough, nor its title: under emulation a document is drawn up to a minute later,
and keys pressed before are lost. What counts, the more is known the less time it takes:

* a new window, or one with another title, which is no splash screen,
* the accessible document: loaded, of the requested file or address, with content,
* the program's processor time: idle, as the guest itself accounts for it,
* the picture: changed since the start, and still.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from controller.actions.program_watch import Activity, Evidence, ProgramWatch
from controller.observation.settle import DEFAULT_RULE
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ActionError, GuestCallError, LinkTimeoutError
from foundation.host_load import Patience, stretched

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.observation.settle import Frame
    from foundation.clock import Clock
    from provisioning.protocols import Json, Machine

_LOG = logging.getLogger(__name__)

_CALL_TIMEOUT_S = 30.0
_EVERY_S = 0.5
_NO_PAGE = "about:"


class _Window(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: int
    title: str
    pid: int = 0


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    url: str
    busy: bool
    content: int


class _Documents(BaseModel):
    documents: list[_Document]
    is_complete: bool


_WINDOWS = TypeAdapter(list[_Window])


@dataclass(frozen=True, slots=True)
class Expected:
    """What a program is to show.

    Attributes:
        label: names it in errors: a path, or an application.
        path: absolute path of the file that is opened; empty if none is.
    """

    label: str
    path: str = ""

    def is_named_by(self, window: _Window, documents: Sequence[_Document]) -> bool:
        """Return whether a window or a document names the file; True if no file is opened."""
        file = PurePosixPath(self.path)
        if not self.path:
            return True
        titles = [window.title, *(row.name for row in documents)]
        return any(name in title for title in titles for name in (file.name, file.stem)) or any(
            _path_of(row.url) == self.path for row in documents
        )

    def is_contradicted_by(self, documents: Sequence[_Document]) -> bool:
        """Return whether documents report addresses of which none can be the requested one."""
        urls = [row.url for row in documents if row.url]
        if self.path:
            return bool(urls) and all(_path_of(url) != self.path for url in urls)
        return bool(urls) and all(url.startswith(_NO_PAGE) for url in urls)


class Readiness:
    """Observes a desktop from before a program is started until it shows its document.

    Args:
        machine: the desktop.
        expected: what the program is to show.
        clock: measures and waits.
        slowdown: returns how much slower than idle the host is, at least 1; by default, measured.
    """

    def __init__(
        self,
        machine: Machine,
        expected: Expected,
        clock: Clock = SYSTEM_CLOCK,
        slowdown: Callable[[], float] | None = None,
    ) -> None:
        self._machine = machine
        self._expected = expected
        self._clock = clock
        self._slowdown = slowdown
        self._titles = {window.id: window.title for window in self._windows()}
        self._frame: Frame = machine.screen.capture()
        self._problem = "no window of it appeared"

    def wait(self, limit_s: float) -> None:
        """Wait until the document is shown.

        Args:
            limit_s: time limit on an idle host; a busy host stretches it.

        Raises:
            ActionError: it is not shown in time.
            LinkError: communication with the machine failed.
        """
        patience = Patience(limit_s, self._clock, self._slowdown)
        watch = ProgramWatch(self._frame, self._clock)
        while not patience.is_over:
            if self._is_ready(watch):
                _LOG.info("%s is shown after %.1f s", self._expected.label, patience.waited_s)
                return
            self._clock.sleep(_EVERY_S)
        raise ActionError(
            f"{self._expected.label} was not shown within {limit_s:g} s: {self._problem}.",
            details=f"Waited {patience.waited_s:.0f} s; a busy host stretches the limit.",
            resolution="Check that the program can open it, or raise wait_s.",
        )

    def _is_ready(self, watch: ProgramWatch) -> bool:
        try:
            window = self._new_window()
            if window is None:
                watch.forget_all()
                return False
            watch.see(window.title, self._machine.screen.capture(), self._activity(window))
            if watch.is_worth_a_look:
                with watch.looking():
                    watch.evidence = self._evidence(window)
                self._problem = watch.evidence.problem or "its program is busy"
                return False  # what the program has drawn meanwhile must be seen first
        except (GuestCallError, LinkTimeoutError) as exc:  # a large program starts on a busy host
            _LOG.info("%s: %s", self._machine.info.machine_id, exc)
            watch.forget_all()
            self._problem = f"its program does not answer ({exc.brief})"
            return False
        if watch.still_s < DEFAULT_RULE.window_s:
            self._problem = "the picture is changing"
        return watch.is_ready

    def _new_window(self) -> _Window | None:
        """Return the topmost window that is new or has another title, without splash screens."""
        changed = [row for row in self._windows() if self._titles.get(row.id) != row.title]
        shown = [row for row in changed if not is_splash(self._machine, row.id)]
        return shown[-1] if shown else None

    def _windows(self) -> list[_Window]:
        reply = self._machine.link.call("windows", {}, timeout_s=stretched(_CALL_TIMEOUT_S))
        return _WINDOWS.validate_python(reply) if isinstance(reply, list) else []

    def _activity(self, window: _Window) -> Activity:
        params: dict[str, Json] = {"pids": [window.pid]}
        reply = self._machine.link.call("activity", params, timeout_s=stretched(_CALL_TIMEOUT_S))
        return Activity.model_validate(reply)

    def _evidence(self, window: _Window) -> Evidence:
        params: dict[str, Json] = {"pids": [window.pid]}
        reply = self._machine.link.call("documents", params, timeout_s=stretched(_CALL_TIMEOUT_S))
        try:
            seen = _Documents.model_validate(reply)
        except ValidationError as exc:
            return Evidence(f"its documents cannot be read ({exc.error_count()} wrong values)")
        documents = seen.documents
        if any(row.busy for row in documents):
            return Evidence("it is being loaded")
        if self._expected.is_contradicted_by(documents):
            return Evidence(f"its program shows {documents[0].url or documents[0].name!r} instead")
        has_content = any(row.content for row in documents)
        is_named = self._expected.is_named_by(window, documents)
        return Evidence(is_sure=seen.is_complete and has_content and is_named)


def is_splash(machine: Machine, window: int) -> bool:
    """Return whether a window declares itself a splash screen."""
    try:
        argv = ["xprop", "-id", str(window), "_NET_WM_WINDOW_TYPE"]
        result = machine.run(argv, timeout_s=stretched(_CALL_TIMEOUT_S))
    except GuestCallError:
        return False
    return b"_NET_WM_WINDOW_TYPE_SPLASH" in result.stdout


def _path_of(url: str) -> str:
    """Return the path of a file's address; empty for other addresses."""
    parts = urlsplit(url)
    return unquote(parts.path) if parts.scheme == "file" else ""
