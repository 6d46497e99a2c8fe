"""Evaluator that compares a document with a reference of the suite, in chosen aspects."""

from __future__ import annotations

import logging
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluators.decorators import MachinePath, SuiteFile, evaluator
from evaluators.rendering.errors import DocumentUnviewableError
from evaluators.rendering.views.picture import PictureView
from evaluators.view_comparison import pages, pdfs, sheets, slides, texts
from evaluators.view_comparison.difference import Aspect, Difference, Tolerances
from evaluators.view_comparison.seen import items_of, seen_in
from foundation.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.machine_view import MachineView
    from evaluators.rendering.views.any import ViewedDocument

_LOG = logging.getLogger(__name__)
_LOGGED = 5
_TEXT_ASPECT, _LOOK_ASPECT = "text", "look"
_ASPECTS = {
    "text": texts.ASPECTS,
    "sheets": sheets.ASPECTS,
    "slides": slides.ASPECTS,
    "pdf": pdfs.ASPECTS,
}
"""How each kind of view is compared."""


@evaluator(on="documents")
def document_same_as(
    view: MachineView,
    path: MachinePath,
    reference: SuiteFile,
    aspects: Annotated[list[Aspect], Field(min_length=1)],
    tolerances: Tolerances = Tolerances(),  # noqa: B008 - immutable
) -> bool:
    """Return whether a document equals a reference document of the suite, in the given aspects.

    Both are opened by LibreOffice, or pdfium; their formats may differ, their kinds (text, workbook,
    presentation, PDF) may not. The first differences are in the log. Proves the state, not who
    caused it.

    Args:
        view: the machine.
        path: path of the document.
        reference: path of the reference in the suite's folder.
        aspects: what is compared. ``text``: displayed texts, which must also be seen. ``values``:
            values of cells, or of the fields of a PDF. ``formulas``: formulas of cells.
            ``formatting``: fonts, sizes, colours, alignment, spacing, number formats, backgrounds.
            ``structure``: sheets, tables, lists, slides, shapes, charts, pages. ``look``: pictures
            of the pages, by their worst tile.
        tolerances: largest differences: ``number`` (1e-9), ``size_pt`` (0.1), ``position_mm``
            (0.5), ``color`` of each channel (0 of 255), ``look`` of the worst tile (0.05 of 1).

    Example:
        ``{on: desktop, check: document_same_as, with: {path: ~/a.odt, reference: files/a.docx,
        aspects: [text, formatting], tolerances: {size_pt: 0.5}}}``
    """
    wanted = _reference(view, Path(reference), aspects)
    has_look = _LOOK_ASPECT in aspects
    found = view.document(path, pages=has_look)
    if found is None:
        return False
    if found.view.kind != wanted.view.kind:
        _LOG.info("%s is of the kind %s, not %s", path, found.view.kind, wanted.view.kind)
        return False
    rows = chain(
        _differences(wanted, found, aspects, tolerances),
        _unseen(view, path, Path(reference), wanted, found) if _TEXT_ASPECT in aspects else (),
    )
    first = list(islice(rows, _LOGGED))
    for row in first:
        _LOG.info("%s differs from %s: %s", path, Path(reference).name, row)
    return not first


def _reference(view: MachineView, path: Path, aspects: list[Aspect]) -> ViewedDocument:
    """Return the view of the reference, which has all aspects.

    Raises:
        EvaluationError: it cannot be viewed, or has no such aspect.
    """
    viewed = _view_reference(view, path, pages=_LOOK_ASPECT in aspects)
    known = _ASPECTS[viewed.view.kind]
    for aspect in aspects:
        if aspect != _LOOK_ASPECT and aspect not in known:
            raise EvaluationError(
                f"The reference {path.name} has no {aspect}.",
                resolution=f"Choose among {', '.join([*known, _LOOK_ASPECT])}.",
            )
    if _LOOK_ASPECT in aspects and pages.is_cut(viewed):
        raise EvaluationError(f"The reference {path.name} has more pages than are compared.")
    return viewed


def _view_reference(view: MachineView, path: Path, **asked: object) -> ViewedDocument:
    """Return a view of the reference.

    Raises:
        EvaluationError: it cannot be viewed, or is a picture.
    """
    try:
        viewed = view.view_of(path.read_bytes(), path.name, **asked)
    except (OSError, DocumentUnviewableError) as exc:
        raise EvaluationError(f"The reference {path.name} cannot be viewed.", str(exc)) from exc
    if viewed is None or isinstance(viewed.view, PictureView):
        raise EvaluationError(
            f"The reference {path.name} is no document.",
            resolution="Compare pictures with image_same_as.",
        )
    return viewed


def _differences(
    wanted: ViewedDocument, found: ViewedDocument, aspects: list[Aspect], tolerances: Tolerances
) -> Iterator[Difference]:
    known = _ASPECTS[wanted.view.kind]
    for aspect in aspects:
        if aspect == _LOOK_ASPECT:
            yield from pages.compare_look(wanted, found, tolerances)
        else:
            yield from known[aspect](wanted.view, found.view, tolerances)


def _unseen(
    view: MachineView, path: str, reference: Path, wanted: ViewedDocument, found: ViewedDocument
) -> Iterator[Difference]:
    """Iterate over the texts that are seen in the reference, and not in the document."""
    items, others = items_of(wanted.view), items_of(found.view)
    answered = view.document(path, shown=others) if others else None
    if answered is None:
        return
    expected = seen_in(_view_reference(view, reference, shown=items).view, items)
    for place, is_seen in seen_in(answered.view, others).items():
        if not is_seen and expected.get(place, True):
            yield Difference(place, "seen", "not seen")
