"""View of a text document, and which of its texts and pictures are seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from images.renderer.program.drawn_text import DrawnTexts
from images.renderer.program.errors import DocumentError
from images.renderer.program.marks import (
    find_passages,
    is_transparent,
    locate,
    mark,
    unused_colors,
)
from images.renderer.program.pages import Reply, encode_png, render_pages
from images.renderer.program.readings import attach_readings, embeds_fonts
from images.renderer.program.screen import (
    ANIMATED,
    has_animation,
    print_as_shown,
    print_text_as_shown,
)
from images.renderer.program.text_parts import (
    pictures_of,
    read_frames,
    read_page_styles,
    read_parts,
    read_pictures,
)
from images.renderer.program.visibility import MIN_SHARE, Item, decide_mixed, undecided

if TYPE_CHECKING:
    from pathlib import Path

    from images.renderer.program.letters import Letter
    from images.renderer.program.marks import Passage
    from images.renderer.program.office import Office
    from images.renderer.program.text_parts import Parts

_PDF = "writer_pdf_Export"
_DOCUMENT = "com.sun.star.text.TextDocument"
_TEXTS = ("text", "part")
_TRANSPARENT = 100
_UNDRAWN = "too few of its letters are drawn, or they are transparent"


def view_text(office: Office, data: bytes, request: dict[str, Any]) -> Reply:
    """Return the view of a text document, with its tracked changes accepted.

    Args:
        office: the running LibreOffice.
        data: the file.
        request: suffix and ``shown`` (items to decide).

    Raises:
        DocumentError: it is no text document, or too large.
    """
    document = office.open(data, request["suffix"])
    if not document.supportsService(_DOCUMENT):
        raise DocumentError("LibreOffice does not open it as a text document.")
    if document.Redlines.createEnumeration().hasMoreElements():
        office.dispatch(document, ".uno:AcceptAllTrackedChanges")
    print_as_shown([document.DrawPage])
    is_web = print_text_as_shown(document)
    parts = read_parts(document, has_pages=not is_web)
    view = {
        "kind": "text",
        "paragraphs": parts.paragraphs,
        "tables": parts.tables,
        "page_styles": read_page_styles(document),
        "pictures": read_pictures(document),
        "page_count": document.CurrentController.PageCount,
        "frames": read_frames(document),
        "brings_fonts": office.has_brought_fonts(),
        "shown": [],
    }
    asked = request["shown"]
    if not asked and not request["pages"]:
        return Reply(view)
    path = office.export(document, _PDF)
    printed = _Printed(office, document, parts, path.rename(path.with_name("first")))
    pages = [encode_png(page) for page in render_pages(printed.path)] if request["pages"] else []
    view["shown"] = printed.decide(asked)
    attach_readings(
        printed.path, view["shown"], is_foreign=view["brings_fonts"] or embeds_fonts(data)
    )
    return Reply(view, pages)


@dataclass(frozen=True)
class _Printed:
    """An open document and its first print."""

    office: Office
    document: Any
    parts: Parts
    path: Path

    def decide(self, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows of items; pictures first, because deciding texts changes their colours."""
        pictures = [_picture(self.document, row) for row in asked if row["kind"] not in _TEXTS]
        pages = render_pages(self.path) if pictures else []
        others = iter(decide_mixed(pictures, pages, lambda: render_pages(self._print())))
        texts = iter(self._decide_texts([row for row in asked if row["kind"] in _TEXTS]))
        rows = [next(texts) if row["kind"] in _TEXTS else next(others) for row in asked]
        if has_animation([self.document.DrawPage]):
            rows = [undecided(ANIMATED) if row["is_shown"] else row for row in rows]
        return rows

    def _print(self) -> Path:
        return self.office.export(self.document, _PDF)

    def _decide_texts(self, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = [find_passages(self.parts, row) for row in asked]
        rows = [
            {} if passages else self._search(row)
            for row, passages in zip(asked, found, strict=True)
        ]
        groups = _disjoint(found)
        if not groups:
            return rows
        first = DrawnTexts(self.path)
        colors = unused_colors(first)
        for group in groups:
            passages = [passage for number in group for passage in found[number]]
            marked = mark(self.parts, passages, colors)
            drawn, unsure = locate(first, self._print(), marked)
            if unsure:
                again = mark(self.parts, unsure, colors, is_divided=True)
                drawn |= {passage: [] for passage in unsure} | locate(first, self._print(), again)[
                    0
                ]
            tops = self._first_on_pages(first, drawn) if self._has_breaks(asked, group) else None
            decided = self._decide_passages(first, {row: drawn.get(row, []) for row in passages})
            for number in group:
                rows[number] = _summary({row: decided[row] for row in found[number]})
                rows[number]["first_paragraphs"] = tops
            first = DrawnTexts(self.path)  # deciding removed texts from it
        return rows

    def _has_breaks(self, asked: list[dict[str, Any]], group: list[int]) -> bool:
        """Return whether a part with page breaks is asked for."""
        return any(asked[number]["kind"] == "part" for number in group) and any(
            row["is_page_break_before"] or row["is_page_break_after"]
            for row in self.parts.paragraphs
        )

    def _first_on_pages(self, first: DrawnTexts, drawn: dict[Passage, list[Letter]]) -> list[int]:
        """Return the paragraphs before which no text is drawn on their page, apart from a header."""
        headers = [row["text"] for row in self.parts.paragraphs if row["part"] == "header"]
        most = sum(len("".join(text.split())) for text in headers)
        pages: dict[int, list[Letter]] = {}
        found = []
        for passage, letters in drawn.items():
            if not letters:
                continue
            page = letters[0].page
            if page not in pages:
                pages[page] = first.letters(page)
            start = letters[0].top
            above = sum((row.bottom + row.top) / 2 > start for row in pages[page])
            if above <= most:
                found.append(passage.paragraph)
        return sorted(found)

    def _decide_passages(
        self, first: DrawnTexts, drawn: dict[Passage, list[Letter]]
    ) -> dict[Passage, dict[str, Any]]:
        whole = {
            passage: letters
            for passage, letters in drawn.items()
            if not is_transparent(self.parts, passage)
            if letters and len(letters) >= MIN_SHARE * len("".join(passage.text.split()))
        }
        texts = [(passage.text, letters) for passage, letters in whole.items()]
        rows = zip(whole, first.decide_letters(texts), strict=True)
        return {passage: undecided(_UNDRAWN) for passage in drawn} | dict(rows)

    def _search(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the row of a text that is in no paragraph of the view, such as one in a frame."""
        if asked["kind"] == "part":
            return undecided("the document has no such text", is_found=False)
        return DrawnTexts(self.path).decide([asked])[0]


def _disjoint(found: list[list[Passage]]) -> list[list[int]]:
    """Return the numbers of items in groups that have no paragraph in common."""
    groups: list[tuple[list[int], set[int]]] = []
    for number, passages in enumerate(found):
        wanted = {passage.paragraph for passage in passages}
        if not wanted:
            continue
        for numbers, taken in groups:
            if not wanted & taken:
                numbers.append(number)
                taken.update(wanted)
                break
        else:
            groups.append(([number], wanted))
    return [numbers for numbers, _ in groups]


def _summary(decided: dict[Passage, dict[str, Any]]) -> dict[str, Any]:
    """Return the row of an item from those of its passages."""
    unseen = {passage.paragraph for passage, row in decided.items() if not row["is_shown"]}
    best = max(decided.values(), key=lambda row: bool(row["is_shown"]))
    every = {passage.paragraph for passage in decided}
    lines = [
        {**line, "line": replace(line["line"], occurrence=number), "paragraph": passage.paragraph}
        for number, (passage, row) in enumerate(decided.items())
        if row["is_shown"]
        for line in row.pop("lines", [])
    ]
    return {**best, "lines": lines, "paragraphs": sorted(every - unseen)}


def _picture(document: Any, asked: dict[str, Any]) -> Item | dict[str, Any]:  # noqa: ANN401
    """Return a picture, which is removed by making it transparent, so that nothing else moves."""
    if asked["kind"] != "object":
        raise DocumentError(f"Items of kind {asked['kind']!r} are not in text documents.")
    pictures = pictures_of(document)
    if asked["number"] >= len(pictures):
        return undecided("there is no such picture", is_found=False)
    picture = pictures[asked["number"]]
    return Item((), 0, lambda: setattr(picture, "Transparency", _TRANSPARENT))
