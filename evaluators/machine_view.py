"""View of a machine's files and screen; each is read once per wave."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from evaluators.pictures import decode_picture, picture_of_url
from evaluators.readers.reading import ChildReader, once
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from evaluators.pictures import Picture
    from evaluators.readers.model import Deck, Pdf, TextDocument, Workbook
    from evaluators.readers.reading import Reader
    from foundation.clock import Clock
    from provisioning.protocols import Files, Frame, MachineInfo, Screen

MAX_FILE_BYTES = 32 << 20
"""Maximum size of a fetched file; larger ones are treated as missing."""

shared_reader = once(ChildReader)
"""Return the reader of this process, which caches its results."""


class ViewableMachine(Protocol):
    """The part of `provisioning.protocols.Machine` that views need."""

    @property
    def info(self) -> MachineInfo:
        """Information about the machine, including the home folder of the agent's user."""
        ...

    @property
    def files(self) -> Files:
        """Files of the machine."""
        ...

    @property
    def screen(self) -> Screen:
        """Screen of the machine."""
        ...


@runtime_checkable
class SymlinkSafeFiles(Protocol):
    """Files of a machine on which the agent can create symbolic links."""

    def get_no_follow(self, path: str, max_bytes: int) -> bytes | None:
        """Read a regular file; None if it is missing, too large, or reached over a symbolic link."""
        ...


class MachineView:
    """View for evaluators of documents and of the screen; created for each wave.

    Args:
        machine: the machine.
        timeout_s: total time limit of all reads through this view.
        reader: reader of documents; by default the one of the process.
        clock: clock for the time limit.
    """

    def __init__(
        self,
        machine: ViewableMachine,
        *,
        timeout_s: float,
        reader: Reader | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._machine = machine
        self._reader = reader or shared_reader()
        self._deadline_s = clock.monotonic_s() + timeout_s
        self._home = machine.info.home
        self._files: dict[str, bytes | None] = {}
        self._frame: Frame | None = None
        self.clock = clock

    def left_s(self, what: str) -> float:
        """Return the seconds left for this wave.

        Raises:
            EvaluationError: there is no time left for `what`.
        """
        left_s = self._deadline_s - self.clock.monotonic_s()
        if left_s <= 0:
            raise EvaluationError(f"The time limit expired before reading {what}.")
        return left_s

    def fetch(self, path: str) -> bytes | None:
        """Return a file's content; None if it is treated as missing.

        Files are treated as missing if they do not exist, are not regular files, are larger than 32
        MiB or are reached over a symbolic link.

        Args:
            path: absolute, or starting with ``~/``.

        Raises:
            LinkError: the machine does not respond.
            EvaluationError: the path is relative, or no time is left.
        """
        full = f"{self._home}/{path[2:]}" if path.startswith("~/") else path
        if not full.startswith("/"):
            raise EvaluationError(f"{path!r} is not an absolute path and does not start with ~/.")
        if full not in self._files:
            self.left_s(full)
            self._files[full] = _fetch(self._machine.files, full)
        return self._files[full]

    def picture(self, source: str) -> Picture | None:
        """Return a picture; None if it is missing or corrupt.

        Args:
            source: path of its file on the machine, or ``data:image/png;base64,...``.
        """
        data = picture_of_url(source) if source.startswith("data:") else self.fetch(source)
        return None if data is None else decode_picture(data)

    def text_document(self, path: str) -> TextDocument | None:
        """Read an .odt or .docx file; None if it is missing or unreadable."""
        document: TextDocument | None = self._read("text", path)
        return document

    def workbook(self, path: str) -> Workbook | None:
        """Read an .ods or .xlsx file; None if it is missing or unreadable."""
        workbook: Workbook | None = self._read("workbook", path)
        return workbook

    def deck(self, path: str) -> Deck | None:
        """Read an .odp or .pptx file; None if it is missing or unreadable."""
        deck: Deck | None = self._read("deck", path)
        return deck

    def pdf(self, path: str) -> Pdf | None:
        """Read a PDF; None if it is missing or unreadable."""
        pdf: Pdf | None = self._read("pdf", path)
        return pdf

    def frame(self) -> Frame:
        """Return the screen in this wave: uint8 array (H, W, 3), RGB.

        Raises:
            LinkError: the machine does not provide its screen.
        """
        if self._frame is None:
            self._frame = self.fresh_frame()
        return self._frame

    def fresh_frame(self) -> Frame:
        """Capture the screen again."""
        self.left_s("the screen")
        return self._machine.screen.capture()

    def _read(self, kind: str, path: str) -> Any:  # noqa: ANN401 - what the kind is read into
        data = self.fetch(path)
        if not data:
            return None
        return self._reader.read(kind, data, timeout_s=self.left_s(path))


def _fetch(files: Files, path: str) -> bytes | None:
    if isinstance(files, SymlinkSafeFiles):
        return files.get_no_follow(path, MAX_FILE_BYTES)
    status = files.stat(path)
    is_regular = status is not None and stat.S_ISREG(status.mode)
    if status is None or not is_regular or status.size_bytes > MAX_FILE_BYTES:
        return None
    data = files.get(path)
    return data if len(data) <= MAX_FILE_BYTES else None
