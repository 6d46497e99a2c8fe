"""Read .odt, .ods and .odp with odfpy.

odfpy only prints a message if a part is malformed, so `check_archive` must reject such files first.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_left
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from evaluators.readers.model import (
    HIDDEN_PANE,
    Cell,
    Chart,
    Deck,
    Paragraph,
    Run,
    Shape,
    Sheet,
    Slide,
    Workbook,
)
from evaluators.readers.odf_look import Look, attribute, is_seen_side, length_mm, own_look
from evaluators.readers.odf_picture import is_shown
from evaluators.readers.odf_slide import (
    box_of,
    hidden_layers,
    is_displayed,
    is_prompt,
    keeps_colours,
)
from evaluators.readers.odf_text import Characters, ground_of, load_document, page_grounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MAX_CELLS = 200_000
_A4 = (210.0, 20.0, 20.0)
"""LibreOffice's default page width and side margins in mm."""
_REFERENCE = re.compile(r"\[([^\[\]]*)\]")
_COVERED = "table:covered-table-cell"
"""A position of a merged cell, except the first one."""
_ASIDE = {"table:table", "draw:frame", "text:note", "text:tracked-changes", "office:annotation"}
_UNSEEN = {"note", "annotation", "frame", "number", "ruby-text", "script", "tracked-changes"}
"""Elements of a paragraph whose text does not belong to it; programs regenerate ``number``."""
_CHARTS = {"chart:circle": "pie"}


def read_ods(data: bytes, parts: Mapping[str, bytes]) -> Workbook:
    """Read a spreadsheet.

    Raises:
        Exception: odfpy may raise any exception for a malformed file.
        ValueError: the file has more than 200 000 cells.
    """
    document = _Document(data, parts, "spreadsheet")
    left = MAX_CELLS
    sheets = []
    for table in _within(document.file.spreadsheet, {"table:table"}, set()):
        cells = _cells(document, table, left)
        left -= len(cells)
        is_hidden = bool(document.look("table", attribute(table, "stylename")).hidden)
        name = attribute(table, "name")
        frozen = _frozen(document, table, name)
        sheets.append(Sheet(name, cells, document.charts(table), is_hidden, *frozen))
    return Workbook(tuple(sheets))


def read_odp(data: bytes, parts: Mapping[str, bytes]) -> Deck:
    """Read a presentation.

    Raises:
        Exception: odfpy may raise any exception for a malformed file.
    """
    document = _Document(data, parts, "presentation")
    pages = _within(document.file.presentation, {"draw:page"}, set())
    return Deck(tuple(document.slide(page) for page in pages))


class _Document:
    """A loaded file and its styles.

    Raises:
        ValueError: the file is a document of another kind.
    """

    def __init__(self, data: bytes, parts: Mapping[str, bytes], kind: str) -> None:
        self.parts = parts
        self.file = load_document(data)
        wanted = f"application/vnd.oasis.opendocument.{kind}"
        if self.file.mimetype not in {wanted, f"{wanted}-template"}:
            raise ValueError(f"this is {self.file.mimetype}, not {wanted}")
        self._is_on_paper = kind == "text"
        """Slides have their own backgrounds, which are not read."""
        self.styles: dict[tuple[str, str], Any] = {}
        for folder in (self.file.styles, self.file.automaticstyles):
            for style in folder.childNodes:
                self.styles[attribute(style, "family"), attribute(style, "name")] = style
        self._page_mm = self._paper()
        blocks = (
            _within(self.file.text, {"text:p", "text:h", "table:table"}, _ASIDE)
            if self._is_on_paper
            else []
        )
        self._grounds = page_grounds(blocks, self.look, self._page_colours())

    def look(self, family: str, name: str) -> Look:
        """Resolve a style and its base styles, the last of which is the family's default."""
        look = Look()
        for _ in range(32):
            style = self.styles.get((family, name), self.styles.get((family, "")))
            if style is None:
                break
            look = look.over(own_look(style))
            if not attribute(style, "name"):  # the family's default
                break
            name = attribute(style, "parentstylename")
        return look

    def paragraph(self, node: Any, base: Look | None = None) -> Paragraph:  # noqa: ANN401
        name = attribute(node, "stylename")
        look = self.look("paragraph", name).over(base or Look())
        if self._is_on_paper:
            look = look.over(Look(fill=ground_of(node, self.look, self._grounds)))
        runs = () if _hides_paragraph(node) else tuple(self._runs(node, look, Characters()))
        level = int(attribute(node, "outlinelevel") or 1) if node.qname[1] == "h" else 0
        return Paragraph(
            "".join(run.text for run in runs),
            self._shown_name(name),
            level,
            look.alignment or "",
            tuple(run for run in runs if run.text),
        )

    def _frame_look(self, frame: Any) -> Look:  # noqa: ANN401
        """Return the text properties set by the style of a frame on a slide."""
        name = attribute(frame, "stylename")
        return self.look("graphic", name).over(self.look("presentation", name))

    def visible_text(self, holder: Any, base: Look | None = None) -> str:  # noqa: ANN401
        """Return the visible text of a cell or shape, paragraphs separated by newlines."""
        nodes = _within(holder, {"text:p", "text:h"}, {"office:annotation"})
        return "\n".join(self.paragraph(node, base).text for node in nodes)

    def _shown_name(self, name: str) -> str:
        style = self.styles.get(("paragraph", name))
        if style is not None and style.parentNode is self.file.automaticstyles:
            name = attribute(style, "parentstylename")
            style = self.styles.get(("paragraph", name))
        shown = attribute(style, "displayname") if style is not None else ""
        return shown or name.replace("_20_", " ")

    def table(self, node: Any) -> tuple[tuple[str, ...], ...]:  # noqa: ANN401
        """Return the visible texts of a table by rows, including repeated rows and cells.

        A merged cell has its text in its first position, and is empty in the others.
        """
        rows: list[tuple[str, ...]] = []
        left = MAX_CELLS
        for row in _within(node, {"table:table-row"}, set()):
            cells = _within(row, {"table:table-cell", _COVERED}, set())
            repeats = int(attribute(row, "numberrowsrepeated") or 1)
            left -= repeats * max(sum(map(_columns, cells)), 1)
            if left < 0:
                raise ValueError(f"the table has more than {MAX_CELLS} cells")
            texts = ([self._cell_text(cell)] * _columns(cell) for cell in cells)
            rows += [tuple(chain.from_iterable(texts))] * repeats
        return tuple(rows)

    def _cell_text(self, cell: Any) -> str:  # noqa: ANN401
        return "" if cell.tagName == _COVERED else self.visible_text(cell)

    def _runs(self, node: Any, look: Look, characters: Characters) -> list[Run]:  # noqa: ANN401
        runs: list[Run] = []
        for child in node.childNodes:
            text = characters.of(child)
            if text is not None:
                is_visible = self._is_visible(look)
                runs += [_run(text, look, has_paper=self._is_on_paper)] if is_visible else []
            elif child.qname[1] in {"span", "a"} and attribute(child, "stylename"):
                own = self.look("text", attribute(child, "stylename"))
                runs += self._runs(child, own.over(look), characters)
            elif child.qname[1] in _UNSEEN or _is_hidden_field(child):
                characters.pass_over()
            else:
                runs += self._runs(child, look, characters)
        return runs

    def _is_visible(self, look: Look) -> bool:
        if self._is_on_paper and not look.is_within(*self._page_mm):
            return False
        return look.is_legible(has_paper=self._is_on_paper)

    def _paper(self) -> tuple[float, float, float]:
        """Return the smallest width and side margins of all pages, in mm."""
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

    def _page_colours(self) -> dict[str, str | None]:
        """Return the colours of pages by the names of their styles; None if they have none."""
        colours = {}
        for master in self.file.masterstyles.childNodes:
            layout = self.styles.get(("", attribute(master, "pagelayoutname")))
            colours[attribute(master, "name")] = (
                own_look(layout).fill if layout is not None else None
            )
        return colours

    def pictures(self, node: Any, *, whole: bool = False) -> tuple[str, ...]:  # noqa: ANN401
        """Return the files of the pictures below a node, without external links.

        A frame shows one picture; further images in it are alternative formats.
        """
        shown: dict[int, str] = {}
        for image in _within(node, {"draw:image"}, {"text:tracked-changes", "office:annotation"}):
            name = attribute(image, "href").removeprefix("./")
            is_stored = name in self.parts and name.startswith("Pictures/")
            frame = image.parentNode
            style = self.styles.get(("graphic", attribute(frame, "stylename")))
            if is_stored and self._is_displayed(frame) and is_shown(style, whole=whole):
                shown.setdefault(id(frame), name)
        return tuple(base64.b64encode(self.parts[name]).decode() for name in shown.values())

    def _is_displayed(self, frame: Any) -> bool:  # noqa: ANN401
        """Return whether a frame has a size, and neither it nor the text around it is hidden."""
        sides = (attribute(frame, "width"), attribute(frame, "height"))
        return all(map(is_seen_side, sides)) and not any(map(self._hides, _upwards(frame)))

    def _hides(self, node: Any) -> bool:  # noqa: ANN401
        name = node.qname[1]
        if name in {"span", "p", "h"}:
            family = "text" if name == "span" else "paragraph"
            is_hidden = bool(self.look(family, attribute(node, "stylename")).hidden)
            return is_hidden or _hides_paragraph(node)
        return name == "frame" and attribute(node, "display") in {"none", "printer"}

    def charts(self, table: Any) -> tuple[Chart, ...]:  # noqa: ANN401
        """Return the charts of a sheet."""
        shown = {
            attribute(node, "href").strip("./") for node in _within(table, {"draw:object"}, set())
        }
        sheet_charts = []
        for child in self.file.childobjects:
            name = child.folder.strip("/")
            if name in shown:
                charts = _within(child.body, {"chart:chart"}, set())
                sheet_charts += [_chart(chart, child.automaticstyles) for chart in charts]
        return tuple(sheet_charts)

    def slide(self, page: Any) -> Slide:  # noqa: ANN401
        """Read one slide."""
        master = attribute(page, "masterpagename")
        size = self._page_size(master)
        notes = [
            _texts(frame)
            for note in _within(page, {"presentation:notes"}, set())
            for frame in _within(note, {"draw:frame"}, set())
            if attribute(frame, "class") == "notes" and attribute(frame, "placeholder") != "true"
        ]
        hidden = hidden_layers([*_layers(page), *_layers(self.file.masterstyles)])
        shapes = [
            self._shape(node, size)
            for node in _within(
                page,
                {"draw:frame", "draw:custom-shape", "draw:rect", "draw:ellipse", "draw:line"},
                {"presentation:notes"},
            )
            if is_displayed(node, hidden)
        ]
        return Slide(tuple(shapes), "\n".join(notes), self._master_name(master))

    def _master_name(self, name: str) -> str:
        """Return the displayed name of a master page."""
        pages = [
            page for page in self.file.masterstyles.childNodes if attribute(page, "name") == name
        ]
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

    def _bases(self, name: str) -> list[Any]:
        """Return the styles of a frame on a slide, nearest first."""
        bases: list[Any] = []
        for family in ("graphic", "presentation"):
            base = name
            while (style := self.styles.get((family, base))) is not None and style not in bases:
                bases.append(style)
                base = attribute(style, "parentstylename")
        return bases

    def _shape(self, node: Any, size: tuple[float, float]) -> Shape:  # noqa: ANN401
        is_like_itself = keeps_colours(self._bases(attribute(node, "stylename")))
        is_empty = is_prompt(node)
        pictures = self.pictures(node, whole=True) if is_like_itself and not is_empty else ()
        text = "" if is_empty else self.visible_text(node, self._frame_look(node))
        kind = "picture" if pictures else "text" if text else "other"
        if attribute(node, "class") == "title":
            kind = "title"
        left, top, width, height = (
            edge / size[index % 2] for index, edge in enumerate(box_of(node))
        )
        return Shape(kind, text, left, top, width, height, picture=pictures[0] if pictures else "")


def _layers(node: Any) -> list[Any]:  # noqa: ANN401
    return _within(node, {"draw:layer"}, set())


def _cells(document: _Document, table: Any, most: int) -> dict[str, Cell]:  # noqa: ANN401
    cells: dict[str, Cell] = {}
    style_of = _column_styles(table)
    row_number = 1
    for row in _within(table, {"table:table-row"}, set()):
        rows = int(attribute(row, "numberrowsrepeated") or 1)
        usual = attribute(row, "defaultcellstylename")
        column = 1
        for node in _within(row, {"table:table-cell", _COVERED}, set()):
            columns = int(attribute(node, "numbercolumnsrepeated") or 1)
            cell = _cell(document, node, usual or style_of(column))
            if cell is not None:
                if len(cells) + rows * columns > most:
                    raise ValueError(f"the spreadsheet has more than {MAX_CELLS} cells")
                for down in range(rows):
                    for right in range(columns):
                        cells[f"{_letters(column + right)}{row_number + down}"] = cell
            column += columns
        row_number += rows
    return cells


def _column_styles(table: Any) -> Callable[[int], str]:  # noqa: ANN401
    """Return a function from a column's number, from 1, to the default style of its cells."""
    columns = _within(table, {"table:table-column"}, set())
    ends = [*accumulate(int(attribute(node, "numbercolumnsrepeated") or 1) for node in columns)]
    names = [*(attribute(node, "defaultcellstylename") for node in columns), ""]
    return lambda column: names[bisect_left(ends, column)]


def _own_paragraphs(cell: Any) -> list[Any]:  # noqa: ANN401
    """Return a cell's paragraphs, without those in its comment and in anchored shapes."""
    elements = (child for child in cell.childNodes if child.nodeType == child.ELEMENT_NODE)
    return [child for child in elements if child.tagName in {"text:p", "text:h"}]


def _weights(document: _Document, nodes: Iterable[Any], look: Look) -> Iterator[bool]:
    """Iterate over the passages of a text that are not white space and yield whether each is bold."""
    for node in nodes:
        if node.nodeType == node.TEXT_NODE:
            if str(node).strip():
                yield bool(look.bold)
        else:
            is_span = node.tagName == "text:span"
            own = document.look("text", attribute(node, "stylename")) if is_span else Look()
            yield from _weights(document, node.childNodes, own.over(look))


def _fill(document: _Document, style: str) -> str:
    """Return the background of cells with a style; empty if it has none or is transparent."""
    for _ in range(32):
        element = document.styles.get(("table-cell", style))
        for child in element.childNodes if element is not None else ():
            colour = attribute(child, "backgroundcolor")
            if colour and child.tagName == "style:table-cell-properties":
                return colour.lstrip("#").lower() if colour != "transparent" else ""
        style = attribute(element, "parentstylename") if element is not None else ""
    return ""


def _frozen(document: _Document, table: Any, name: str) -> tuple[int, int]:  # noqa: ANN401
    """Return the number of frozen rows and columns of a sheet.

    Source: LibreOffice's ``sc/inc/unonames.hxx`` and ``viewdata.hxx``: mode 2 is SC_SPLIT_FIX.
    """
    for entry in _within(document.file.settings, {"config:config-item-map-entry"}, set()):
        for sheet in _within(entry, {"config:config-item-map-entry"}, set()):
            if attribute(sheet, "name") == name:
                items = _within(sheet, {"config:config-item"}, set())
                settings = {attribute(item, "name"): str(item).strip() for item in items}
                rows, columns = _split(settings, "Vertical"), _split(settings, "Horizontal")
                is_hidden = _hides_some(table, "table:table-row", "numberrowsrepeated", rows)
                is_hidden |= _hides_some(
                    table, "table:table-column", "numbercolumnsrepeated", columns
                )
                return HIDDEN_PANE if is_hidden else (rows, columns)
    return 0, 0


def _hides_some(table: Any, what: str, repeated: str, count: int) -> bool:  # noqa: ANN401
    """Return whether any of the first `count` rows or columns of a sheet is hidden."""
    first = 0
    for line in _within(table, {what}, set()):
        if first >= count:
            break
        if attribute(line, "visibility") in {"collapse", "filter"}:
            return True
        first += int(attribute(line, repeated) or 1)
    return False


_FIRST_SHOWN = {"Vertical": "PositionTop", "Horizontal": "PositionLeft"}
"""Settings with the first row or column of the frozen part, from 0."""


def _split(items: dict[str, str], direction: str) -> int:
    position = items.get(f"{direction}SplitPosition", "")
    is_fixed = items.get(f"{direction}SplitMode") == "2"
    is_from_start = items.get(_FIRST_SHOWN[direction], "0") == "0"
    return int(position) if is_fixed and is_from_start and position.isdigit() else 0


def _cell(document: _Document, node: Any, style: str) -> Cell | None:  # noqa: ANN401
    """Return a cell, or None if it is empty; `style` is the default style."""
    kind, formula = attribute(node, "valuetype"), attribute(node, "formula")
    paragraphs = _own_paragraphs(node)
    text = "\n".join(map(_text, paragraphs))
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
    style = attribute(node, "stylename") or style
    look = document.look("table-cell", style)
    has_passages = not formula and kind in {"", "string"}
    weights = [*_weights(document, paragraphs, look)] if has_passages else []
    return Cell(
        value,
        _a1(formula),
        bold=all(weights or [bool(look.bold)]),
        fill=_fill(document, style),
        is_date=kind in {"date", "time"},
    )


def _a1(formula: str) -> str:
    """Convert OpenFormula's notation to A1: ``of:=SUM([.A1:.B2];3)`` is ``=SUM(A1:B2,3)``."""
    if not formula:
        return ""
    plain = formula.partition("=")[2]
    pieces = re.split(r'("[^"]*")', plain)
    for index in range(0, len(pieces), 2):
        piece = _REFERENCE.sub(lambda match: _reference(match[1]), pieces[index])
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
    titles = [_texts(title) for title in _within(node, {"chart:title"}, {"chart:axis"})]
    series = [
        _reference(attribute(child, "valuescellrangeaddress"))
        for child in _within(node, {"chart:series"}, set())
    ]
    plain = _CHARTS.get(kind, kind.removeprefix("chart:"))
    if plain == "bar" and not _is_vertical(node, styles):
        plain = "column"
    return Chart(plain, titles[0] if titles else "", tuple(series))


def _is_vertical(chart: Any, styles: Any) -> bool:  # noqa: ANN401
    """Return whether a bar chart's bars are horizontal, which ODF calls ``chart:vertical``."""
    areas = {attribute(area, "stylename") for area in _within(chart, {"chart:plot-area"}, set())}
    return any(
        attribute(child, "vertical") == "true"
        for style in styles.childNodes
        if attribute(style, "name") in areas
        for child in style.childNodes
    )


def _hides_paragraph(node: Any) -> bool:  # noqa: ANN401
    fields = _within(node, {"text:hidden-paragraph"}, set())
    return any(attribute(field, "ishidden") == "true" for field in fields)


def _columns(cell: Any) -> int:  # noqa: ANN401
    return int(attribute(cell, "numbercolumnsrepeated") or 1)


def _upwards(node: Any) -> Iterator[Any]:  # noqa: ANN401
    """Iterate over an element and its ancestors."""
    while node is not None:
        yield node
        node = node.parentNode


def _is_hidden_section(node: Any) -> bool:  # noqa: ANN401
    if node.tagName != "text:section":
        return False
    display = attribute(node, "display")
    is_hidden = attribute(node, "ishidden") == "true" or bool(attribute(node, "condition"))
    return display == "none" or (display == "condition" and is_hidden)


def _is_hidden_field(node: Any) -> bool:  # noqa: ANN401
    return attribute(node, "ishidden") == "true" or attribute(node, "display") == "none"


def _run(text: str, look: Look, *, has_paper: bool) -> Run:
    return Run(
        text,
        bold=bool(look.bold),
        italic=bool(look.italic),
        underline=look.is_underlined(has_paper=has_paper),
        colour=look.colour or "",
        size_pt=look.size_pt if look.relative in {None, 1.0} else None,
    )


def _within(node: Any, wanted: set[str], without: set[str]) -> list[Any]:  # noqa: ANN401
    """Return the outermost descendants with given names, without descending into excluded nodes."""
    nodes: list[Any] = []
    waiting = list(reversed(node.childNodes))
    while waiting:
        child = waiting.pop()
        if child.nodeType != child.ELEMENT_NODE:
            continue
        if child.tagName in wanted:
            nodes.append(child)
        elif child.tagName not in without and not _is_hidden_section(child):
            waiting += reversed(child.childNodes)
    return nodes


def _texts(node: Any) -> str:  # noqa: ANN401
    return "\n".join(map(_text, _within(node, {"text:p", "text:h"}, {"office:annotation"})))


def _text(paragraph: Any) -> str:  # noqa: ANN401
    from odf import teletype  # noqa: PLC0415 - only in the reader's process

    return str(teletype.extractText(paragraph))


def _letters(number: int) -> str:
    name = ""
    while number:
        number, rest = divmod(number - 1, 26)
        name = chr(65 + rest) + name
    return name
