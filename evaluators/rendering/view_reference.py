"""Describe the fields of views of documents, for ``docs/views.md``."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, get_args

from evaluators.rendering import request
from evaluators.rendering.views.pdf import PdfView
from evaluators.rendering.views.picture import PictureView
from evaluators.rendering.views.sheets import SheetsView
from evaluators.rendering.views.slides import SlidesView
from evaluators.rendering.views.text import TextView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

VIEWS = (SheetsView, TextView, SlidesView, PdfView, PictureView)
ASKED = (
    request.CellItem,
    request.SheetObjectItem,
    request.TextItem,
    request.ObjectItem,
    request.NotesItem,
    request.PicturesItem,
    request.Perturbation,
)


def document_views() -> Iterator[str]:
    """Yield the lines of the part on views of documents."""
    yield "## Views of documents\n"
    yield (
        "What `MachineView.workbook`, `text_document`, `presentation`, `pdf` and `document` return, and what "
        "they can be asked for; [views of documents](views-of-documents.md) says what counts as seen.\n"
    )
    models: list[type[BaseModel]] = list(ASKED)
    for view in VIEWS:
        models += _models(view)
    for model in dict.fromkeys(models):
        yield f"### {model.__name__}\n"
        yield f"{_summary(model)}\n"
        yield from ("| field | type | meaning |", "|---|---|---|")
        meanings = dict(_attributes(model))
        for name, annotation in _annotations(model):
            yield f"| `{name}` | {annotation} | {meanings.get(name, '')} |"
        yield ""


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield a model and those of its fields, each after the one that holds it."""
    yield model
    for field in model.model_fields.values():
        for part in _parts(field.annotation):
            if part is not model:
                yield from _models(part)


def _parts(annotation: object) -> Iterator[type[BaseModel]]:
    if hasattr(annotation, "model_fields"):
        yield annotation  # type: ignore[misc]
    for argument in get_args(annotation):
        yield from _parts(argument)


def _annotations(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        if name not in {"version", "kind"}:
            yield name, _name_of(field.annotation).replace("|", "or")


def _name_of(annotation: object) -> str:
    text = (
        annotation.__name__
        if isinstance(annotation, type) and not get_args(annotation)
        else str(annotation)
    )
    for prefix in ("typing.", "evaluators.rendering.request.", *_MODULES):
        text = text.replace(prefix, "")
    return text.replace("NoneType", "None")


_MODULES = tuple(
    f"evaluators.rendering.views.{name}."
    for name in ("common", "pdf", "picture", "sheets", "slides", "text")
)


def _summary(model: type[BaseModel]) -> str:
    return " ".join((inspect.getdoc(model) or "").partition("Attributes:")[0].split())


def _attributes(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield names and meanings from the docstrings of a model and its base classes."""
    for owner in reversed(model.__mro__):
        entry: list[str] = []
        text = inspect.cleandoc(owner.__doc__ or "").partition("Attributes:\n")[2]
        for line in text.splitlines():
            if line.startswith("    ") and not line.startswith("     "):
                yield from _entry(entry)
                entry = [line]
            elif line.startswith("     "):
                entry.append(line)
        yield from _entry(entry)


def _entry(lines: list[str]) -> Iterator[tuple[str, str]]:
    if lines:
        name, _, meaning = " ".join(line.strip() for line in lines).partition(": ")
        yield name, meaning.replace("|", "\\|")
