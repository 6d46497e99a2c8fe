"""Read .odt, .ods and .odp by odfpy.

odfpy prints and goes on when a part is broken: `check_archive` has refused those before.
"""

from __future__ import annotations

import base64
import io
import re
from typing import TYPE_CHECKING, Any

from evaluators.readers.model import (
    Cell,
    Chart,
    Deck,
    Paragraph,
    Run,
    Shape,
    Sheet,
    Slide,
    TextDocument,
    Workbook,
)
from evaluators.readers.odf_look import LENGTH, Look, attribute, length_mm, own_look
from evaluators.readers.odf_picture import is_shown

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CELLS = 200_000
_A4 = (210.0, 20.0, 20.0)
"""Width and side margins in mm, as LibreOffice has them where a document says nothing."""
_REFERENCE = re.compile(r"\[([^\[\]]*)\]")
_ASIDE = {"table:table", "draw:frame", "text:note", "text:tracked-changes", "office:annotation"}
_UNSEEN = {"note", "annotation", "frame", "ruby-text", "script", "tracked-changes"}
_CHARTS = {"chart:circle": "pie"}


def read_odt(data: bytes, parts: Mapping[str, bytes]) -> TextDocument:
    """Read a text document.

    Raises:
        Exception: whatever odfpy says of a broken file.
    """
    document = _Document(data, parts, "text")
    body = document.file.text
    paragraphs = tuple(
        document.paragraph(node) for node in _within(body, {"text:p", "text:h"}, _ASIDE)
    )
    tables = tuple(
        tuple(
            tuple(document.visible_text(cell) for cell in _within(row, {"table:table-cell"}, set()))
            for row in _within(table, {"table:table-row"}, set())
        )
        for table in _within(body, {"table:table"}, set())
    )
    return TextDocument(paragraphs, tables, document.pictures(body))


def read_ods(data: bytes, parts: Mapping[str, bytes]) -> Workbook:
    """Read a spreadsheet.

    Raises:
        Exception: whatever odfpy says of a broken file.
        ValueError: more than 200 000 cells.
    """
    document = _Document(data, parts, "spreadsheet")
    left = MAX_CELLS
    sheets = []
    for table in _within(document.file.spreadsheet, {"table:table"}, set()):
        cells = _cells(document, table, left)
        left -= len(cells)
        is_hidden = bool(document.look("table", attribute(table, "stylename")).hidden)
        name = attribute(table, "name")
        frozen = _frozen(document, name)
        sheets.append(Sheet(name, cells, document.charts(table), is_hidden, *frozen))
    return Workbook(tuple(sheets))


def read_odp(data: bytes, parts: Mapping[str, bytes]) -> Deck:
    """Read a presentation.

    Raises:
        Exception: whatever odfpy says of a broken file.
    """
    document = _Document(data, parts, "presentation")
    pages = _within(document.file.presentation, {"draw:page"}, set())
    return Deck(tuple(document.slide(page) for page in pages))


class _Document:
    """A loaded file and its styles.

    Raises:
        ValueError: it is a document of another kind.
    """

    def __init__(self, data: bytes, parts: Mapping[str, bytes], kind: str) -> None:
        from odf.opendocument import load  # noqa: PLC0415 - only in the reader's process

        self.parts = parts
        self.file: Any = load(io.BytesIO(data))
        wanted = f"application/vnd.oasis.opendocument.{kind}"
        if self.file.mimetype not in {wanted, f"{wanted}-template"}:
            raise ValueError(f"this is {self.file.mimetype}, not {wanted}")
        self._is_on_paper = kind == "text"
        """Slides have backgrounds of their own, which are not read."""
        self.styles: dict[tuple[str, str], Any] = {}
        for folder in (self.file.styles, self.file.automaticstyles):
            for style in folder.childNodes:
                self.styles[attribute(style, "family"), attribute(style, "name")] = style
        self._page_mm = self._paper()

    def look(self, family: str, name: str) -> Look:
        """Resolve a style and its base styles."""
        look = Look()
        for _ in range(32):
            style = self.styles.get((family, name))
            if style is None:
                break
            look = look.over(own_look(style))
            name = attribute(style, "parentstylename")
        return look

    def paragraph(self, node: Any, base: Look | None = None) -> Paragraph:  # noqa: ANN401
        name = attribute(node, "stylename")
        look = self.look("paragraph", name).over(base or Look())
        runs = () if _hides_paragraph(node) else tuple(self._runs(node, look))
        level = int(attribute(node, "outlinelevel") or 1) if node.qname[1] == "h" else 0
        return Paragraph(
            "".join(run.text for run in runs),
            self._shown_name(name),
            level,
            look.alignment or "",
            tuple(run for run in runs if run.text),
        )

    def _frame_look(self, frame: Any) -> Look:  # noqa: ANN401
        """Return what the style of a frame on a slide sets for its text."""
        name = attribute(frame, "stylename")
        return self.look("graphic", name).over(self.look("presentation", name))

    def visible_text(self, holder: Any, base: Look | None = None) -> str:  # noqa: ANN401
        """Return the visible text of a cell or shape, paragraphs separated by newlines."""
        nodes = _within(holder, {"text:p", "text:h"}, {"office:annotation"})
        return "\n".join(self.paragraph(one, base).text for one in nodes)

    def _shown_name(self, name: str) -> str:
        style = self.styles.get(("paragraph", name))
        if style is not None and style.parentNode is self.file.automaticstyles:
            name = attribute(style, "parentstylename")
            style = self.styles.get(("paragraph", name))
        shown = attribute(style, "displayname") if style is not None else ""
        return shown or name.replace("_20_", " ")

    def _runs(self, node: Any, look: Look) -> list[Run]:  # noqa: ANN401
        runs: list[Run] = []
        for child in node.childNodes:
            text = _own_text(child)
            if text is not None:
                runs += [_run(text, look)] if self._is_visible(look) else []
            elif child.qname[1] == "span":
                runs += self._runs(
                    child, self.look("text", attribute(child, "stylename")).over(look)
                )
            elif child.qname[1] not in _UNSEEN and attribute(child, "ishidden") != "true":
                runs += self._runs(child, look)
        return runs

    def _is_visible(self, look: Look) -> bool:
        if self._is_on_paper and not look.is_within(*self._page_mm):
            return False
        return look.is_legible(has_paper=self._is_on_paper)

    def _paper(self) -> tuple[float, float, float]:
        """Return the least width and side margins that a page has, in mm."""
        sides = ("pagewidth", "marginleft", "marginright")
        pages = [
            [length_mm(attribute(child, side) or attribute(child, "margin")) for side in sides]
            for (family, _), style in self.styles.items()
            if not family
            for child in style.childNodes
            if attribute(child, "pagewidth")
        ]
        width, left, right = map(min, zip(*pages, strict=True)) if pages else _A4
        return width, left, right

    def pictures(self, node: Any, *, whole: bool = False) -> tuple[str, ...]:  # noqa: ANN401
        """Return the files of the pictures below a node, without external links.

        A frame shows one picture; further images in it are other formats of the same.
        """
        shown: dict[int, str] = {}
        for image in _within(node, {"draw:image"}, {"text:tracked-changes", "office:annotation"}):
            name = attribute(image, "href").removeprefix("./")
            is_stored = name in self.parts and name.startswith("Pictures/")
            frame = image.parentNode
            style = self.styles.get(("graphic", attribute(frame, "stylename")))
            if is_stored and not _is_sizeless(frame) and is_shown(style, whole=whole):
                shown.setdefault(id(frame), name)
        return tuple(base64.b64encode(self.parts[name]).decode() for name in shown.values())

    def charts(self, table: Any) -> tuple[Chart, ...]:  # noqa: ANN401
        """Return the charts of a sheet."""
        shown = {
            attribute(one, "href").strip("./") for one in _within(table, {"draw:object"}, set())
        }
        found = []
        for child in self.file.childobjects:
            name = child.folder.strip("/")
            if name in shown:
                charts = _within(child.body, {"chart:chart"}, set())
                found += [_chart(one, child.automaticstyles) for one in charts]
        return tuple(found)

    def slide(self, page: Any) -> Slide:  # noqa: ANN401
        """Read one slide."""
        master = attribute(page, "masterpagename")
        size = self._page_size(master)
        notes = [
            _texts(frame)
            for one in _within(page, {"presentation:notes"}, set())
            for frame in _within(one, {"draw:frame"}, set())
            if attribute(frame, "class") == "notes" and attribute(frame, "placeholder") != "true"
        ]
        shapes = [
            self._shape(node, size)
            for node in _within(
                page,
                {"draw:frame", "draw:custom-shape", "draw:rect", "draw:ellipse", "draw:line"},
                {"presentation:notes"},
            )
        ]
        return Slide(tuple(shapes), "\n".join(notes), self._master_name(master))

    def _master_name(self, name: str) -> str:
        """Return a master page's name as a user reads it."""
        pages = [one for one in self.file.masterstyles.childNodes if attribute(one, "name") == name]
        shown = attribute(pages[0], "displayname") if pages else ""
        return shown or name.replace("_20_", " ")

    def _page_size(self, master: str) -> tuple[float, float]:
        for page in self.file.masterstyles.childNodes:
            if attribute(page, "name") == master:
                layout = self.styles.get(("", attribute(page, "pagelayoutname")))
                for child in layout.childNodes if layout is not None else ():
                    width = length_mm(attribute(child, "pagewidth"))
                    if width > 0:
                        return width, length_mm(attribute(child, "pageheight")) or 1.0
        return 280.0, 210.0

    def _shape(self, node: Any, size: tuple[float, float]) -> Shape:  # noqa: ANN401
        pictures = self.pictures(node, whole=True)
        text = self.visible_text(node, self._frame_look(node))
        kind = "picture" if pictures else "text" if text else "other"
        if attribute(node, "class") == "title":
            kind = "title"
        box = (
            attribute(node, "x"),
            attribute(node, "y"),
            attribute(node, "width"),
            attribute(node, "height"),
        )
        left, top, width, height = (
            length_mm(one) / size[index % 2] for index, one in enumerate(box)
        )
        return Shape(kind, text, left, top, width, height, picture=pictures[0] if pictures else "")


def _cells(document: _Document, table: Any, most: int) -> dict[str, Cell]:  # noqa: ANN401
    cells: dict[str, Cell] = {}
    row_number = 1
    for row in _within(table, {"table:table-row"}, set()):
        rows = int(attribute(row, "numberrowsrepeated") or 1)
        column = 1
        for node in _within(row, {"table:table-cell", "table:covered-table-cell"}, set()):
            columns = int(attribute(node, "numbercolumnsrepeated") or 1)
            cell = _cell(document, node)
            if cell is not None:
                if len(cells) + rows * columns > most:
                    raise ValueError(f"the spreadsheet has more than {MAX_CELLS} cells")
                for down in range(rows):
                    for right in range(columns):
                        cells[f"{_letters(column + right)}{row_number + down}"] = cell
            column += columns
        row_number += rows
    return cells


def _frozen(document: _Document, name: str) -> tuple[int, int]:
    """Return how many rows and columns of a sheet stay in sight.

    Source: LibreOffice's ``sc/inc/unonames.hxx`` and ``viewdata.hxx``: mode 2 is SC_SPLIT_FIX.
    """
    for entry in _within(document.file.settings, {"config:config-item-map-entry"}, set()):
        for sheet in _within(entry, {"config:config-item-map-entry"}, set()):
            if attribute(sheet, "name") == name:
                items = _within(sheet, {"config:config-item"}, set())
                found = {attribute(item, "name"): str(item).strip() for item in items}
                return _split(found, "Vertical"), _split(found, "Horizontal")
    return 0, 0


def _split(items: dict[str, str], direction: str) -> int:
    position = items.get(f"{direction}SplitPosition", "")
    is_fixed = items.get(f"{direction}SplitMode") == "2"
    return int(position) if is_fixed and position.isdigit() else 0


def _cell(document: _Document, node: Any) -> Cell | None:  # noqa: ANN401
    kind, formula = attribute(node, "valuetype"), attribute(node, "formula")
    text = _texts(node)
    value: str | float | bool | None = text
    if kind in {"float", "percentage", "currency"}:
        value = float(attribute(node, "value"))
    elif kind == "boolean":
        value = attribute(node, "booleanvalue") == "true"
    elif kind in {"date", "time"}:
        value = (attribute(node, "datevalue") or attribute(node, "timevalue")).removesuffix(
            "T00:00:00"
        )
    elif kind == "string":
        value = attribute(node, "stringvalue") or text
    elif not text and not formula:
        return None
    look = document.look("table-cell", attribute(node, "stylename"))
    return Cell(
        value,
        _a1(formula),
        bold=bool(look.bold),
        fill=look.fill or "",
        is_date=kind in {"date", "time"},
    )


def _a1(formula: str) -> str:
    """Convert OpenFormula's notation to A1: ``of:=SUM([.A1:.B2];3)`` is ``=SUM(A1:B2,3)``."""
    if not formula:
        return ""
    plain = formula.partition("=")[2]
    pieces = re.split(r'("[^"]*")', plain)
    for index in range(0, len(pieces), 2):
        piece = _REFERENCE.sub(lambda found: _reference(found[1]), pieces[index])
        pieces[index] = piece.replace(";", ",")
    return "=" + "".join(pieces)


def _reference(text: str) -> str:
    """Convert ``.A1:.B2`` to ``A1:B2`` and ``Data.A1`` or ``$Data.A1`` to ``Data!A1``."""
    ends, last = [], ""
    for end in text.split(":"):
        sheet, _, cell = end.rpartition(".")
        sheet = sheet.lstrip("$").strip("'")
        name = sheet if sheet.isidentifier() else f"'{sheet}'"
        ends.append(f"{name}!{cell}" if sheet not in {"", last} else cell)
        last = sheet
    return ":".join(ends)


def _chart(node: Any, styles: Any) -> Chart:  # noqa: ANN401
    kind = attribute(node, "class")
    titles = [_texts(one) for one in _within(node, {"chart:title"}, {"chart:axis"})]
    series = [
        _reference(attribute(one, "valuescellrangeaddress"))
        for one in _within(node, {"chart:series"}, set())
    ]
    plain = _CHARTS.get(kind, kind.removeprefix("chart:"))
    if plain == "bar" and not _is_vertical(node, styles):
        plain = "column"
    return Chart(plain, titles[0] if titles else "", tuple(series))


def _is_vertical(chart: Any, styles: Any) -> bool:  # noqa: ANN401
    """Return whether a bar chart's bars are horizontal, which ODF calls ``chart:vertical``."""
    areas = {attribute(one, "stylename") for one in _within(chart, {"chart:plot-area"}, set())}
    return any(
        attribute(child, "vertical") == "true"
        for style in styles.childNodes
        if attribute(style, "name") in areas
        for child in style.childNodes
    )


def _own_text(node: Any) -> str | None:  # noqa: ANN401
    """Return the text that a node is; None for an element with content of its own."""
    if node.nodeType == node.TEXT_NODE:
        return str(node)
    name = node.qname[1]
    if name == "s":
        return " " * min(int(attribute(node, "c") or 1), 1000)
    return {"tab": "\t", "line-break": "\n"}.get(name)


def _hides_paragraph(node: Any) -> bool:  # noqa: ANN401
    fields = _within(node, {"text:hidden-paragraph"}, set())
    return any(attribute(one, "ishidden") == "true" for one in fields)


def _is_sizeless(frame: Any) -> bool:  # noqa: ANN401
    sides = (attribute(frame, "width"), attribute(frame, "height"))
    return any(side and LENGTH.fullmatch(side) and length_mm(side) <= 0 for side in sides)


def _is_hidden_section(node: Any) -> bool:  # noqa: ANN401
    if node.tagName != "text:section":
        return False
    display = attribute(node, "display")
    return display == "none" or (display == "condition" and attribute(node, "ishidden") == "true")


def _run(text: str, look: Look) -> Run:
    return Run(
        text,
        bold=bool(look.bold),
        italic=bool(look.italic),
        underline=bool(look.underline),
        colour=look.colour or "",
        size_pt=look.size_pt if look.relative in {None, 1.0} else None,
    )


def _within(node: Any, wanted: set[str], without: set[str]) -> list[Any]:  # noqa: ANN401
    """Return the outermost nodes with some names below a node, without descending into others."""
    found: list[Any] = []
    waiting = list(reversed(node.childNodes))
    while waiting:
        one = waiting.pop()
        if one.nodeType != one.ELEMENT_NODE:
            continue
        if one.tagName in wanted:
            found.append(one)
        elif one.tagName not in without and not _is_hidden_section(one):
            waiting += reversed(one.childNodes)
    return found


def _texts(node: Any) -> str:  # noqa: ANN401
    from odf import teletype  # noqa: PLC0415 - only in the reader's process

    return "\n".join(
        teletype.extractText(one)
        for one in _within(node, {"text:p", "text:h"}, {"office:annotation"})
    )


def _letters(number: int) -> str:
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name
