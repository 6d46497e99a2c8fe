"""What a view is asked for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

MAX_ITEMS = 100
MAX_PERTURBATIONS = 20
CELL_PATTERN = r"^[A-Z]{1,3}[1-9][0-9]{0,6}$"
Suffix = Annotated[str, Field(pattern=r"^[a-z0-9]{1,8}$")]
CellName = Annotated[str, Field(pattern=CELL_PATTERN)]
_Name = Annotated[str, Field(max_length=1000)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CellPlace(_Model):
    """A cell of a workbook.

    Attributes:
        sheet: name of its sheet; empty for the first shown one.
        cell: such as ``B3``.
    """

    sheet: _Name
    cell: CellName


class CellItem(CellPlace):
    """A cell, to decide whether its content is seen."""

    kind: Literal["cell"] = "cell"


class SheetObjectItem(_Model):
    """A chart or picture on a sheet, to decide whether it is seen.

    Attributes:
        sheet: name of its sheet; empty for the first shown one.
        name: its name, as in the view.
    """

    kind: Literal["sheet_object"] = "sheet_object"
    sheet: _Name
    name: _Name


class TextItem(_Model):
    """A text, to decide where it is seen: in text documents, slides and PDFs.

    Attributes:
        text: the text, within one paragraph; upper and lower case differ.
        page: number of the slide or PDF page from 0; None for anywhere.
    """

    kind: Literal["text"] = "text"
    text: Annotated[str, Field(min_length=1, max_length=1000)]
    page: int | None = Field(None, ge=0)


class PartItem(_Model):
    """A part of a text document, to decide in which of its paragraphs all text is seen.

    Attributes:
        part: the part.
    """

    kind: Literal["part"] = "part"
    part: Literal["body", "table", "header", "footer"]


class ObjectItem(_Model):
    """A shape or picture, to decide whether it is seen.

    Attributes:
        number: its number, as in the view.
        page: number of the slide or PDF page, from 0; 0 in text documents.
    """

    kind: Literal["object"] = "object"
    number: int = Field(ge=0)
    page: int = Field(0, ge=0)


class NotesItem(_Model):
    """The notes of a slide, to decide whether all their lines are seen on the notes' page.

    Attributes:
        page: number of the slide, from 0.
    """

    kind: Literal["notes"] = "notes"
    page: int = Field(ge=0)


class PicturesItem(_Model):
    """The pictures of a slide, to see which of them are shown as a whole, and what they are.

    Attributes:
        page: number of the slide, from 0.
    """

    kind: Literal["pictures"] = "pictures"
    page: int = Field(ge=0)


Item = Annotated[
    CellItem | SheetObjectItem | TextItem | PartItem | ObjectItem | NotesItem | PicturesItem,
    Field(discriminator="kind"),
]


class Input(CellPlace):
    """A cell that is given another value or formula.

    Attributes:
        value: the value; None empties the cell.
        formula: a formula in its place, as in the view, in braces if it is an array formula.
    """

    value: float | str | None = None
    formula: Annotated[str, Field(max_length=10_000)] = ""


class Perturbation(_Model):
    """Inputs to change together, and cells whose results are asked for.

    Attributes:
        typed: what happens to all cells without formulas, in all sheets, before the inputs change:
            they stay, are emptied, get other numbers and texts, or are all filled with `filling`.
        filling: value for all typed cells.
        inputs: cells and their new values.
        results: cells to read after recalculation.
    """

    typed: Literal["kept", "emptied", "changed", "filled"] = "kept"
    filling: float | str = ""
    inputs: tuple[Input, ...] = Field((), max_length=MAX_ITEMS)
    results: tuple[CellPlace, ...] = Field(min_length=1, max_length=MAX_ITEMS)


class ViewRequest(_Model):
    """A request for the view of one document.

    Attributes:
        suffix: suffix of the document's file, such as ``ods``.
        shown: items to decide.
        perturbations: changes of inputs; only for workbooks.
        pages: whether pictures of the pages are wanted.
        place: path of the file on its machine, for workbooks that ask for it.
    """

    suffix: Suffix
    shown: tuple[Item, ...] = Field((), max_length=MAX_ITEMS)
    perturbations: tuple[Perturbation, ...] = Field((), max_length=MAX_PERTURBATIONS)
    pages: bool = False
    place: _Name = ""

    def asked(self) -> dict[str, JsonValue]:
        """Return the request as JSON data, without a place if it has none."""
        return self.model_dump(mode="json", exclude=None if self.place else {"place"})
