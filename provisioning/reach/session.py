"""The outer end of a session: connects the streams that a guest opens to services."""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING

from foundation.errors import LinkClosedError, LinkTimeoutError, MachineError
from foundation.logging import suppress_logged
from provisioning.probe.streams.frames import MAX_STREAMS, FrameError, FrameSplitter
from provisioning.probe.streams.multiplexer import Multiplexer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.links.transport import Transport
    from provisioning.reach.services import Dial, Service

_log = logging.getLogger(__name__)

_MAX_ERROR_CHARS = 500


class ReachSession:
    """One session over a transport, with threads that read and write it.

    A guest can open streams to the services that `set_up` was last called with, and to nothing else.

    Args:
        transport: connected to the guest's end; the session takes ownership.
        nonce: what the guest's first bytes are; earlier ones are of an older session.
        name: name of the machine, for errors.
    """

    def __init__(self, transport: Transport, nonce: bytes, *, name: str) -> None:
        self.name = name
        self._transport = transport
        self._splitter = FrameSplitter(nonce)
        self._dials: dict[str, Dial] = {}
        self._dialing = threading.BoundedSemaphore(MAX_STREAMS)
        self._answered = threading.Event()
        self._setting_up = threading.Lock()
        self._number = 0
        self._error = ""
        self._why_ended = ""
        self._multiplexer = Multiplexer(
            transport.write, on_setup=self._take_answer, on_open=self._open, on_end=self._note_end
        )
        self._multiplexer.start()
        self._reader = threading.Thread(target=self._read, name=f"reach-{name}", daemon=True)
        self._reader.start()

    @property
    def why_ended(self) -> str:
        """Return why the session has ended; empty while it lasts."""
        return self._why_ended

    def set_up(self, services: Sequence[Service], *, timeout_s: float) -> None:
        """Let the guest listen for these services and no others, and wait until it does.

        Args:
            services: services with distinct keys.
            timeout_s: time limit of the guest's answer, which includes the start of the session.

        Raises:
            MachineError: the guest cannot listen, for instance because a port is in use there.
            LinkTimeoutError: the guest did not answer in time.
            LinkClosedError: the session has ended.
        """
        with self._setting_up:
            self._dials = {
                f"{service.key}:{port}": dial
                for service in services
                for port, dial in service.dials.items()
            }
            self._multiplexer.keep_only(self._dials)
            rows = [
                {
                    "service": service.key,
                    "is_named": service.is_named,
                    "address": service.address,
                    "ports": list(service.dials),
                }
                for service in services
            ]
            self._answered.clear()
            self._number += 1
            request = {"number": self._number, "services": rows}
            self._multiplexer.send_setup(json.dumps(request).encode())
            is_answered = bool(self._why_ended) or self._answered.wait(timeout_s)
            if self._why_ended:
                raise LinkClosedError(
                    f"The streams of {self.name} have ended.", details=self._why_ended
                )
            if not is_answered:
                raise LinkTimeoutError(
                    f"{self.name} did not listen for its services within {timeout_s:g} s.",
                    details=self._transport.read_error_tail(),
                )
            if self._error:
                raise MachineError(
                    f"{self.name} cannot listen for its services.",
                    details=self._error,
                    resolution="Another program of the machine may use a port of a service.",
                )

    def close(self) -> None:
        """End the session with all its streams; may be called more than once."""
        self._note_end("It was closed by this side.")
        # First, as a guest that hangs blocks the thread that writes to it.
        self._close_transport()
        self._multiplexer.close()
        if threading.current_thread() is not self._reader:
            self._reader.join(timeout=5.0)

    def _read(self) -> None:
        reason = "The guest closed the channel."
        try:
            while data := self._transport.read():
                for frame in self._splitter.feed(data):
                    self._multiplexer.receive(frame)
        except FrameError as exc:
            reason = f"The guest violated the protocol: {exc}."
        except (OSError, EOFError) as exc:
            reason = f"Reading failed: {exc}."
        self._multiplexer.end(reason)
        # The guest's end notices it, and removes listeners and names.
        self._close_transport()

    def _close_transport(self) -> None:
        """Close the transport, which an SSH connection that is ending refuses."""
        with suppress_logged(_log, f"close the streams of {self.name}", OSError, EOFError):
            self._transport.close()

    def _note_end(self, reason: str) -> None:
        if not self._why_ended:
            self._why_ended = reason
            _log.info("the streams of %s ended: %s", self.name, reason)
        self._answered.set()

    def _take_answer(self, content: bytes) -> None:
        try:
            reply = json.loads(content)
            number, error = int(reply["number"]), str(reply["error"])[:_MAX_ERROR_CHARS]
        except (ValueError, KeyError, TypeError, RecursionError) as exc:
            raise FrameError("a malformed answer") from exc
        if number == self._number:
            self._error = error
            self._answered.set()

    def _open(self, number: int, listener: str) -> None:
        """Connect a stream in a thread of its own, as services may be slow to accept."""
        dial = self._dials.get(listener)
        if dial is None or not self._dialing.acquire(blocking=False):
            self._multiplexer.refuse(number)
            return
        threading.Thread(
            target=self._dial, args=(number, dial), name=f"dial-{listener}", daemon=True
        ).start()

    def _dial(self, number: int, dial: Dial) -> None:
        try:
            self._multiplexer.attach(number, dial())
        except OSError as exc:
            _log.debug("%s: a service cannot be reached: %s", self.name, exc)
            self._multiplexer.refuse(number)
        finally:
            self._dialing.release()
