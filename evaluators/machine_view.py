"""View of a machine's files and screen; each is read once per wave."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from evaluators.pictures import decode_picture, picture_of_url
from evaluators.rendering.errors import DocumentUnviewableError
from evaluators.rendering.formats import is_saved_by_libreoffice, suffix_of
from evaluators.rendering.request import ViewRequest
from evaluators.rendering.source import shared_views
from evaluators.rendering.views.pdf import PdfView
from evaluators.rendering.views.sheets import SheetsView
from evaluators.rendering.views.slides import SlidesView
from evaluators.rendering.views.text import TextView
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluators.pictures import Picture
    from evaluators.rendering.keeping import OnView
    from evaluators.rendering.request import Item, Perturbation
    from evaluators.rendering.source import ViewSource
    from evaluators.rendering.views.any import ViewedDocument
    from foundation.clock import Clock
    from provisioning.protocols import Files, Frame, MachineInfo, Screen

MAX_FILE_BYTES = 32 << 20
"""Maximum size of a fetched file; larger ones are treated as missing."""

V = TypeVar("V", SheetsView, TextView, SlidesView, PdfView)


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
        views: source of views of documents; by default the one of the process.
        on_view: called with the path and view of each document that an evaluator asked for.
        clock: clock for the time limit.
    """

    def __init__(
        self,
        machine: ViewableMachine,
        *,
        timeout_s: float,
        views: ViewSource | None = None,
        on_view: OnView | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._machine = machine
        self._views = views
        self._on_view = on_view
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
        full = self._full(path)
        if not full.startswith("/"):
            raise EvaluationError(f"{path!r} is not an absolute path and does not start with ~/.")
        if full not in self._files:
            self.left_s(full)
            self._files[full] = _fetch(self._machine.files, full)
        return self._files[full]

    def picture(self, source: str, *, is_oriented: bool = True) -> Picture | None:
        """Return a picture; None if it is missing or corrupt.

        Args:
            source: path of its file on the machine, or ``data:image/png;base64,...``.
            is_oriented: whether it is turned into its EXIF orientation, which not all programs do.
        """
        data = picture_of_url(source) if source.startswith("data:") else self.fetch(source)
        return None if data is None else decode_picture(data, is_oriented=is_oriented)

    def workbook(
        self,
        path: str,
        *,
        shown: Sequence[Item] = (),
        perturbations: Sequence[Perturbation] = (),
    ) -> SheetsView | None:
        """Return the view of a workbook (.ods, .xlsx, .csv ...), as LibreOffice calculates and shows it.

        Args:
            path: path of the file; what it is, is decided by its content.
            shown: items to decide: `view.shown` says of each whether it is seen.
            perturbations: inputs to change: `view.perturbed` has the results.

        Returns:
            None if the file is missing, or is not a workbook.

        Raises:
            DocumentUnviewableError: the program does not open it; the node is unmet.
            EvaluationError: the renderer failed, also on a document that LibreOffice saved.
        """
        return self._view(SheetsView, path, shown, perturbations)

    def text_document(self, path: str, *, shown: Sequence[Item] = ()) -> TextView | None:
        """Return the view of a text document (.odt, .docx ...); as `workbook`."""
        return self._view(TextView, path, shown)

    def presentation(self, path: str, *, shown: Sequence[Item] = ()) -> SlidesView | None:
        """Return the view of a presentation (.odp, .pptx ...); as `workbook`."""
        return self._view(SlidesView, path, shown)

    def pdf(self, path: str, *, shown: Sequence[Item] = ()) -> PdfView | None:
        """Return the view of a PDF; as `workbook`."""
        return self._view(PdfView, path, shown)

    def document(self, path: str, **asked: object) -> ViewedDocument | None:
        """Return the view of any document, with pictures of its pages if they are asked for.

        Args:
            path: path of the file.
            asked: fields of `ViewRequest` without ``suffix``, such as ``pages=True``.

        Returns:
            None if the file is missing, or no program of the desktop shows it.

        Raises:
            DocumentUnviewableError: the program does not open it; the node is unmet.
            EvaluationError: the renderer failed, also on a document that LibreOffice saved.
        """
        data = self.fetch(path)
        viewed = self.view_of(data, path, **asked) if data else None
        if viewed is not None and self._on_view is not None:
            self._on_view(path, viewed)
        return viewed

    def view_of(self, document: bytes, path: str, **asked: object) -> ViewedDocument | None:
        """Return the view of a document that is not on the machine; as `document`."""
        suffix = suffix_of(document, path)
        if suffix is None:
            return None
        self.left_s(path)
        views = self._views or shared_views()
        request = ViewRequest.model_validate({**asked, "suffix": suffix})
        try:
            viewed = views.view(document, request)
            is_asked = isinstance(viewed.view, SheetsView) and viewed.view.is_place_asked
            place = self._full(path)
            if is_asked and place.startswith("/"):
                return views.view(document, request.model_copy(update={"place": place}))
            return viewed  # noqa: TRY300 - shorter
        except DocumentUnviewableError as exc:
            if is_saved_by_libreoffice(document):
                raise EvaluationError(
                    f"{path} was saved by LibreOffice, but cannot be viewed.",
                    details=f"{exc.brief} {exc.details}".strip(),
                ) from exc
            raise

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

    def _full(self, path: str) -> str:
        return f"{self._home}/{path[2:]}" if path.startswith("~/") else path

    def _view(
        self,
        model: type[V],
        path: str,
        shown: Sequence[Item],
        perturbations: Sequence[Perturbation] = (),
    ) -> V | None:
        viewed = self.document(path, shown=tuple(shown), perturbations=tuple(perturbations))
        return viewed.view if viewed is not None and isinstance(viewed.view, model) else None


def _fetch(files: Files, path: str) -> bytes | None:
    if isinstance(files, SymlinkSafeFiles):
        return files.get_no_follow(path, MAX_FILE_BYTES)
    status = files.stat(path)
    is_regular = status is not None and stat.S_ISREG(status.mode)
    if status is None or not is_regular or status.size_bytes > MAX_FILE_BYTES:
        return None
    data = files.get(path)
    return data if len(data) <= MAX_FILE_BYTES else None
