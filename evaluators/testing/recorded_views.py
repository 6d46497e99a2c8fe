"""Views that were recorded once, so that tests of evaluators compare them without a renderer."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from evaluators.rendering.errors import DocumentUnviewableError
from evaluators.rendering.views.any import ViewedDocument, parse_view
from foundation.errors import EvaluationError
from foundation.files import digest_bytes, digest_json, write_atomic
from images.renderer.program.framing import VERSION, encode, read_message

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.rendering.request import ViewRequest
    from evaluators.rendering.source import ViewSource

_LEVEL = 9


class ViewNotRecordedError(EvaluationError):
    """No view of this document and request was recorded."""

    code = "view_not_recorded"


class RecordedViews:
    """Views in a folder, one file for each document and request.

    Args:
        folder: the folder.
        renderer: makes the views that are missing; None to refuse them.
        is_recording: whether views that `renderer` made are written to the folder.
    """

    def __init__(
        self, folder: Path, renderer: ViewSource | None = None, *, is_recording: bool = False
    ) -> None:
        self._folder = folder
        self._renderer = renderer
        self._is_recording = is_recording
        self.used: set[str] = set()

    def view(self, document: bytes, request: ViewRequest) -> ViewedDocument:
        """Return a recorded view, or one that the renderer makes.

        Raises:
            DocumentUnviewableError: the renderer refused the document when it was recorded.
            ViewNotRecordedError: it is not recorded, and there is no renderer.
        """
        key = digest_json([VERSION, digest_bytes(document), request.asked()])
        path = self._folder / f"{key[:32]}.gz"
        self.used.add(path.name)
        if path.exists():
            return _read(path)
        if self._renderer is None:
            raise ViewNotRecordedError(
                f"No view of this document ({request.suffix}, {len(document)} bytes) is recorded.",
                resolution="Record it with the renderer, in this project by `make case-views`.",
            )
        try:
            viewed = self._renderer.view(document, request)
        except DocumentUnviewableError as exc:
            self._write(path, encode({"error": str(exc)}))
            raise
        text = viewed.view.model_dump_json(by_alias=True).encode()
        self._write(path, encode({"error": ""}, [text, *viewed.pages]))
        return viewed

    def _write(self, path: Path, message: bytes) -> None:
        if self._is_recording:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, gzip.compress(message, _LEVEL, mtime=0), is_durable=False)


def _read(path: Path) -> ViewedDocument:
    with gzip.open(path) as file:
        header, parts = read_message(file.read)
    if error := header["error"]:
        raise DocumentUnviewableError("The document could not be viewed.", details=error)
    return ViewedDocument(parse_view(parts[0]), tuple(parts[1:]))
