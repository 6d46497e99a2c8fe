"""Live screens of machines for browsers: a VNC server behind each, with a filter before it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING

from appliance.base.errors import MachineError, UnknownNameError
from controller.service.api.access import AccessError
from provisioning.desktop.qemu.viewer_filter import ViewerFilter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from appliance.base.clock import Clock
    from controller.service.machine_desk import Hold

MAX_SCREENS = 32
HOLD_S = 30.0
"""How long a machine is kept from others after the last key or move of the pointer."""
_CHUNK_BYTES = 65536
_POLL_S = 1.0
_CHECK_S = 5.0


class LiveScreen:
    """One viewer of one machine; used in one event loop.

    Args:
        session: its id, which nobody guesses.
        machine_id: of the machine.
        streams: to and from its VNC server.
        take: takes the machine from others so that a person may act on it; None where somebody has it.
        clock: measures how long it is held.
    """

    def __init__(
        self,
        session: str,
        machine_id: str,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        take: Callable[[], Hold | None],
        clock: Clock,
    ) -> None:
        self.session = session
        self.machine_id = machine_id
        self._reader, self._writer = streams
        self._take = take
        self._clock = clock
        self._filter = ViewerFilter(self._may_act)
        self._may_operate = False
        self._hold: Hold | None = None
        self._acted_s = 0.0

    @property
    def is_held(self) -> bool:
        """Whether this viewer acts on the machine, and so keeps it from others."""
        return self._hold is not None

    async def send(self, data: bytes, *, may_operate: bool) -> None:
        """Take what the viewer sends.

        Args:
            data: bytes of the protocol, in any pieces.
            may_operate: whether whoever sends them may act; keys and pointer are dropped otherwise.

        Raises:
            UsageError: it is no message of a viewer; the screen is closed.
            MachineError: the VNC server is gone.
        """
        self._may_operate = may_operate
        try:
            self._writer.write(self._filter.feed(data))
            await self._writer.drain()
        except OSError as exc:
            raise MachineError(
                f"The screen of {self.machine_id} is gone.", details=str(exc)
            ) from exc

    async def chunks(
        self, stop: Callable[[], bool], is_welcome: Callable[[], Awaitable[bool]]
    ) -> AsyncIterator[bytes]:
        """Yield what the VNC server sends, until it or the viewer ends.

        Args:
            stop: whether the service ends.
            is_welcome: whether the viewer is still signed in; asked every few seconds.
        """
        checked_s = self._clock.monotonic_s()
        while not stop():
            if self._clock.monotonic_s() - checked_s > _CHECK_S:
                checked_s = self._clock.monotonic_s()
                if not await is_welcome():
                    return
            if self._hold and self._clock.monotonic_s() - self._acted_s > HOLD_S:
                self._let_go()
            try:
                data = await asyncio.wait_for(self._reader.read(_CHUNK_BYTES), _POLL_S)
            except TimeoutError:
                continue
            except OSError:
                return
            if not data:
                return
            yield data

    def close(self) -> None:
        """End it; harmless twice."""
        self._let_go()
        self._writer.close()

    def _may_act(self) -> bool:
        """Return whether a key or a move of the pointer may reach the machine now."""
        if not self._may_operate:
            return False
        if self._hold is None:
            self._hold = self._take()
        if self._hold is not None:
            self._acted_s = self._clock.monotonic_s()
        return self._hold is not None

    def _let_go(self) -> None:
        if self._hold is not None:
            self._hold.release()
            self._hold = None


class LiveScreens:
    """The live screens that are open.

    Args:
        clock: measures how long machines are held.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[str, LiveScreen] = {}

    async def open(
        self, machine_id: str, socket: Path, take: Callable[[], Hold | None]
    ) -> LiveScreen:
        """Connect to a machine's VNC server.

        Args:
            machine_id: of the machine.
            socket: where the server listens.
            take: see `LiveScreen`.

        Raises:
            AccessError: too many are open.
            MachineError: nobody listens there.
        """
        if len(self._open) >= MAX_SCREENS:
            raise AccessError(429, f"{MAX_SCREENS} live screens are open.", retry_after_s=10)
        try:
            streams = await asyncio.open_unix_connection(str(socket))
        except OSError as exc:
            raise MachineError(
                f"{machine_id} shows nothing to VNC.",
                details=f"{socket}: {exc}",
                resolution=f"`mesocosm machine start {machine_id}` starts it.",
            ) from exc
        session = secrets.token_urlsafe(16)
        screen = LiveScreen(session, machine_id, streams, take, self._clock)
        self._open[session] = screen
        return screen

    def get(self, machine_id: str, session: str) -> LiveScreen:
        """Return a screen that is open.

        Raises:
            UnknownNameError: there is none.
        """
        screen = self._open.get(session)
        if screen is None or screen.machine_id != machine_id:
            raise UnknownNameError(f"There is no such live screen of {machine_id}.")
        return screen

    def close(self, screen: LiveScreen) -> None:
        """Close a screen; harmless twice."""
        self._open.pop(screen.session, None)
        with contextlib.suppress(OSError):
            screen.close()
