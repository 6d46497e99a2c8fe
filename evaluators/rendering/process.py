"""One renderer, which views one document and ends."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from evaluators.rendering.errors import DocumentUnviewableError, RendererDiedError, RendererError
from images.renderer.program.framing import MessageError, encode, read_message

if TYPE_CHECKING:
    from provisioning.links.transport import Transport

START_TIMEOUT_S = 60.0
VIEW_TIMEOUT_S = 180.0
"""Time limit of a view with what it waits for a busy host. The renderer itself refuses what takes too long."""


class RendererProcess:
    """A renderer behind a transport, from its start to its end.

    Args:
        transport: its standard streams; closing it ends the renderer.

    Attributes:
        memory_peak_mib: largest memory that its container had used, with files, when it replied; None before, or
            if the kernel does not say.

    Raises:
        RendererError: it does not start in time.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._buffer = b""
        self._is_late = False
        self.memory_peak_mib: float | None = None
        try:
            header, _ = self._read(START_TIMEOUT_S)
        except (EOFError, OSError, MessageError) as exc:
            raise RendererError(
                "The renderer did not start.", details=transport.read_error_tail()
            ) from exc
        if header != {"ready": True}:
            self.close()
            raise RendererError("The renderer does not say that it is ready.")

    def view(self, document: bytes, request: dict[str, Any], timeout_s: float) -> list[bytes]:
        """Return the view as JSON, and the pages; then the renderer has ended.

        Args:
            document: the file.
            request: the request as JSON data.
            timeout_s: time after which the renderer is killed.

        Raises:
            DocumentUnviewableError: the renderer refused the document, because it takes too long, or otherwise.
            RendererDiedError: it ended on the document.
            RendererError: it sent something else than a reply, or nothing in time, because the host is busy.
        """
        try:
            self._transport.write(encode(request, [document]))
            header, parts = self._read(timeout_s)
        except MessageError as exc:
            raise RendererError("The renderer sent no valid reply.", details=str(exc)) from exc
        except (EOFError, OSError) as exc:
            if self._is_late:
                raise RendererError(
                    f"The renderer did not reply within {timeout_s:g} s.",
                    resolution="Run fewer trials at a time: the host is too busy.",
                ) from exc
            raise RendererDiedError(
                "The renderer ended without a view of the document.",
                details=self._transport.read_error_tail(),
            ) from exc
        finally:
            self.close()
        if error := header.get("error"):
            raise DocumentUnviewableError("The document cannot be viewed.", details=str(error))
        if not parts:
            raise RendererError("The renderer sent neither a view nor an error.")
        peak_mib = header.get("memory_peak_mib")
        self.memory_peak_mib = peak_mib if isinstance(peak_mib, float) else None
        return parts

    def close(self) -> None:
        """End the renderer; may be called more than once."""
        self._transport.close()

    def _read(self, timeout_s: float) -> tuple[dict[str, Any], list[bytes]]:
        """Read one message; close the transport at the deadline, which ends the input."""
        timer = threading.Timer(timeout_s, self._end_late)
        timer.start()
        try:
            return read_message(self._take)
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()

    def _end_late(self) -> None:
        self._is_late = True
        self._transport.close()

    def _take(self, size: int) -> bytes:
        if not self._buffer:
            self._buffer = self._transport.read()
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken
