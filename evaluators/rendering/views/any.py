"""The view of any document, and its parsing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from evaluators.rendering.errors import RendererError
from evaluators.rendering.views.pdf import PdfView
from evaluators.rendering.views.picture import PictureView
from evaluators.rendering.views.sheets import SheetsView
from evaluators.rendering.views.slides import SlidesView
from evaluators.rendering.views.text import TextView
from images.renderer.program.framing import VERSION

View = Annotated[
    SheetsView | TextView | SlidesView | PdfView | PictureView, Field(discriminator="kind")
]
_ADAPTER: TypeAdapter[View] = TypeAdapter(View)


@dataclass(frozen=True, slots=True)
class ViewedDocument:
    """A view with the pictures of the pages.

    Attributes:
        view: the view.
        pages: pages as PNG at 96 dpi, if they were asked for; of workbooks, the tiles with asked
            items, or those of all shown sheets if no item is asked for. Behind them are the pictures that
            `Shown.pictures` names.
    """

    view: View
    pages: tuple[bytes, ...]


def parse_view(data: bytes) -> View:
    """Return the view in a renderer's reply.

    Raises:
        RendererError: it is not a view of this version.
    """
    try:
        view = _ADAPTER.validate_json(data)
    except ValidationError as exc:
        raise RendererError("The renderer sent an invalid view.", details=str(exc)) from exc
    if view.version != VERSION:
        raise RendererError(f"The renderer sent a view of version {view.version}, not {VERSION}.")
    return view
