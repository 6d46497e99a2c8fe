"""Live screens of machines in browsers: filtered connections to the machines' VNC servers."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING

from controller.service.api.access import AccessError
from foundation.errors import MachineError, UnknownNameError
from provisioning.desktop.qemu.viewer_filter import ViewerFilter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from controller.service.machine_service import Hold
    from foundation.clock import Clock

MAX_SCREENS = 32
HOLD_S = 30.0
"""How long a machine stays claimed after the last key or pointer event."""
_CHUNK_BYTES = 65536
_POLL_S = 1.0
_CHECK_S = 5.0


class LiveScreen:
    """One viewer of one machine; used in one event loop.

    Args:
        session: unguessable id of this viewer.
        machine_id: id of the machine.
        streams: streams from and to its VNC server.
        take: claims the machine for manual input; returns None if the machine is in use.
        clock: measures how long the claim is held.
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
        """Whether this viewer has claimed the machine."""
        return self._hold is not None

    async def send(self, data: bytes, *, may_operate: bool) -> None:
        """Forward data from the viewer to the VNC server.

        Args:
            data: bytes of the protocol, in chunks of any size.
            may_operate: whether the sender may act; otherwise key and pointer events are dropped.

        Raises:
            UsageError: the data is not a valid viewer message; the screen is closed.
            MachineError: the connection to the VNC server is closed.
        """
        self._may_operate = may_operate
        try:
            self._writer.write(self._filter.feed(data))
            await self._writer.drain()
        except OSError as exc:
            raise MachineError(
                f"The live screen of {self.machine_id} was disconnected.", details=str(exc)
            ) from exc

    async def chunks(
        self, stop: Callable[[], bool], is_welcome: Callable[[], Awaitable[bool]]
    ) -> AsyncIterator[bytes]:
        """Yield data from the VNC server until the server or the viewer disconnects.

        Args:
            stop: returns whether the service is stopping.
            is_welcome: returns whether the viewer is still signed in; called every few seconds.
        """
        checked_s = self._clock.monotonic_s()
        while not stop():
            if self._clock.monotonic_s() - checked_s > _CHECK_S:
                checked_s = self._clock.monotonic_s()
                if not await is_welcome():
                    return
            if self._hold and self._clock.monotonic_s() - self._acted_s > HOLD_S:
                self._release()
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
        """Release the machine and disconnect; idempotent."""
        self._release()
        self._writer.close()

    def _may_act(self) -> bool:
        """Return whether a key or pointer event may reach the machine now."""
        if not self._may_operate:
            return False
        if self._hold is None:
            self._hold = self._take()
        if self._hold is not None:
            self._acted_s = self._clock.monotonic_s()
        return self._hold is not None

    def _release(self) -> None:
        if self._hold is not None:
            self._hold.release()
            self._hold = None


class LiveScreens:
    """The open live screens.

    Args:
        clock: measures how long machines are claimed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[str, LiveScreen] = {}

    async def open(
        self, machine_id: str, socket: Path, take: Callable[[], Hold | None]
    ) -> LiveScreen:
        """Connect to a machine's VNC server.

        Args:
            machine_id: id of the machine.
            socket: path of the server's socket.
            take: see `LiveScreen`.

        Raises:
            AccessError: too many live screens are open.
            MachineError: the server is not listening.
        """
        if len(self._open) >= MAX_SCREENS:
            raise AccessError(
                429, f"The limit of {MAX_SCREENS} live screens is reached.", retry_after_s=10
            )
        try:
            streams = await asyncio.open_unix_connection(str(socket))
        except OSError as exc:
            raise MachineError(
                f"The VNC server of {machine_id} cannot be reached.",
                details=f"{socket}: {exc}",
                resolution=f"Start the machine with `mesocosm machine start {machine_id}`.",
            ) from exc
        session = secrets.token_urlsafe(16)
        screen = LiveScreen(session, machine_id, streams, take, self._clock)
        self._open[session] = screen
        return screen

    def get(self, machine_id: str, session: str) -> LiveScreen:
        """Return an open live screen.

        Raises:
            UnknownNameError: there is no such live screen.
        """
        screen = self._open.get(session)
        if screen is None or screen.machine_id != machine_id:
            raise UnknownNameError(f"{machine_id} has no such live screen.")
        return screen

    def close(self, screen: LiveScreen) -> None:
        """Close a screen; idempotent."""
        self._open.pop(screen.session, None)
        with contextlib.suppress(OSError):
            screen.close()
