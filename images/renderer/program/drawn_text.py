"""Which texts of a PDF are seen, decided by removing their text objects.

The pages that LibreOffice prints are PDFs, too, so this serves texts of all documents: what it drew is
removed, and nothing else moves.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pypdfium2
from PIL import Image, ImageChops
from pypdfium2 import raw

from images.renderer.program.errors import DocumentError
from images.renderer.program.letters import (
    are_apart,
    box_of,
    color_of,
    frame_of,
    has_symbols,
    letter_box,
    letters_between,
    lines_of,
    read_letters,
    text_of,
    without_label,
)
from images.renderer.program.lines import MIN_LETTER_MM, Line
from images.renderer.program.pages import MAX_PAGES, mm_of, render_page
from images.renderer.program.visibility import (
    Item,
    decide_items,
    undecided,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from pathlib import Path

    from images.renderer.program.letters import Letter

MAX_OCCURRENCES = 50
MAX_DEPTH = 10
MAX_OBJECTS = 100_000
_MARGIN_MM = 0.4
_LEFT_OUT = ""
"""What pdfium reads of a second text in the same place."""
_NEAR_PT = 2.0


class DrawnTexts:
    """The texts of an open PDF; removes what it is asked about.

    Args:
        path: the PDF.
        is_whole_word: whether texts begin and end with whole words.

    Attributes:
        page_count: number of its pages, at most `MAX_PAGES`.

    Raises:
        DocumentError: it is no PDF.
    """

    def __init__(self, path: Path, *, is_whole_word: bool = False) -> None:
        self._is_whole_word = is_whole_word
        try:
            self._pdf = pypdfium2.PdfDocument(path)
            if self._pdf.get_formtype():
                self._pdf.init_forms()
        except pypdfium2.PdfiumError as exc:
            raise DocumentError(f"pdfium: {exc}") from exc
        self.page_count = min(len(self._pdf), MAX_PAGES)
        self._pages: dict[int, Any] = {}
        self._alone: list[Any] = []
        self._removed: dict[int, list[Any]] = {}
        self._bounds: dict[int, dict[int, tuple[float, ...]]] = {}
        self._sizes: dict[int, tuple[int, int]] = {}
        self._inks: dict[int, Image.Image | None] = {}
        self._is_new_pass = True
        self._contents: dict[int, Any] = {}
        self._letters: dict[int, list[Letter]] = {}
        self._owners: dict[int, dict[int, tuple[Any, Any]]] = {}

    def decide(self, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return for each asked text whether it is seen.

        Args:
            asked: ``text`` and ``page`` (None for all).

        Raises:
            DocumentError: too many texts lie on each other, or a page is too large.
        """
        found = [(row["text"], self._locate(**row)) for row in asked]
        is_near = [self._without_apart(letters) for _, letters in found]
        items = [self._item(text, near) for (text, _), near in zip(found, is_near, strict=True)]
        rows = self._decide(items)
        for row, (_, letters), near in zip(rows, found, is_near, strict=True):
            if letters and not near:
                row.update(is_found=True, reason="its words are not beside each other")
        return rows

    def decide_letters(self, found: Sequence[tuple[str, Sequence[Letter]]]) -> list[dict[str, Any]]:
        """Return for each text, of which these letters are drawn, whether it is seen.

        Args:
            found: texts with their letters, as `letters` returned them.

        Raises:
            DocumentError: too many texts lie on each other, or a page is too large.
        """
        return self._decide(
            [self._item(text, [without_label(text, letters)]) for text, letters in found]
        )

    def letters(self, page: int, colors: Container[int] | None = None) -> list[Letter]:
        """Return the letters of a page, without spaces: all, or those of some colours."""
        return read_letters(self._content(page), page, colors)

    def colors(self, page: int) -> set[int]:
        """Return the colours of the texts of a page, as 0xRRGGBB."""
        return {color_of(drawn) for drawn, _ in self._owners_on(page).values()}

    def _without_apart(self, found: list[list[Letter]]) -> list[list[Letter]]:
        """Return the occurrences whose words are beside each other, which those of a PDF need not be."""
        return [
            letters
            for letters in found
            if not self._is_whole_word
            or not letters
            or frame_of(self._content(letters[0].page), letters[:1]) is None
            or not are_apart(lines_of(letters))
        ]

    def _others(self, text: str, letters: Sequence[Letter]) -> bool:
        """Return whether other letters stand between those of a text."""
        if not letters:
            return False
        page, own = letters[0].page, {letter.index for letter in letters}
        if page not in self._letters:
            self._letters[page] = sorted(self.letters(page), key=_middle)
        here = [letter for letter in letters if letter.page == page]
        # Of a page's letters, those of the lines' height: others are not between them.
        start = bisect_left(self._letters[page], min(row.bottom for row in here), key=_middle)
        end = bisect_right(self._letters[page], max(row.top for row in here), key=_middle)
        near = sorted(self._letters[page][start:end], key=lambda letter: letter.index)
        others = [letter for letter in near if letter.index not in own]
        lines = lines_of(here)
        missing = Counter("".join(text.split())) - Counter(letter.character for letter in letters)
        return bool(Counter(letters_between(lines, others)) - missing)

    def _decide(self, found: list[Item | None]) -> list[dict[str, Any]]:
        items = [item for item in found if item is not None]
        decided = decide_items(items, self._render(items), lambda: self._render(items))
        for item, row in zip(items, decided, strict=True):
            if not row["is_shown"] and all(line.is_mixed for line in item.lines):
                row["reason"] = "other letters stand between its letters"
        rows = iter(decided)
        return [
            undecided("it is drawn on no page", is_found=False) if item is None else next(rows)
            for item in found
        ]

    def _item(self, text: str, found: Sequence[Sequence[Letter]]) -> Item | None:
        """Return the item of a text by the letters of each of its occurrences."""
        objects: dict[tuple[int, int], Any] = {}
        for letter in (letter for letters in found for letter in letters):
            drawn = raw.FPDFText_GetTextObject(self._content(letter.page), letter.index)
            if drawn:
                objects[letter.page, _address(drawn)] = drawn
        lines = [line for letters in enumerate(found) for line in self._lines(text, *letters)]
        if not lines:
            return None

        def remove() -> None:
            if self._is_new_pass:
                self._removed, self._inks, self._is_new_pass = {}, {}, False
            for (number, _), drawn in objects.items():
                for same in self._copies(number, drawn):
                    if self._remove(number, same):
                        self._removed.setdefault(number, []).append(same)

        size = len("".join(text.split()))
        boxes = tuple(line.box for line in lines)
        return Item(boxes, size, remove, text, self._ink, tuple(lines))

    def _lines(self, text: str, occurrence: int, letters: Sequence[Letter]) -> Iterator[Line]:
        """Yield the lines of an occurrence of a text."""
        places = [place for place, letter in enumerate(text) if not letter.isspace()]
        is_whole, first = len(places) == len(letters), 0
        is_mixed = self._others(text, letters)
        for line in lines_of(letters):
            page = line[0].page
            height = self._page(page).get_height()
            # What the letters shall be is said by the document, not by the font.
            last = first + len(line) - 1
            own = text[places[first] : places[last] + 1] if is_whole else text_of(line)
            first = last + 1
            made = make_line(occurrence, own, line, self._content(page), height)
            yield replace(made, is_mixed=is_mixed)

    def _locate(self, text: str, page: int | None, **_: object) -> list[list[Letter]]:
        """Return the letters of each occurrence of a text."""
        pages = range(self.page_count)
        wanted = pages if page is None else [page] if page in pages else []
        return [
            read_letters(self._content(number), number, indices=range(start, start + length))
            for number in wanted
            for start, length in self._search(number, text)
        ]

    def _ink(self, page: int) -> Image.Image | None:
        """Return how much of each pixel of a page what this pass removed covers, alone; None if that is unknown."""
        if page not in self._inks:
            self._inks[page] = self._draw_alone(page) if page in self._removed else None
        return self._inks[page]

    def _draw_alone(self, number: int) -> Image.Image:
        """Return the ink of the removed objects that were not nested in forms."""
        alone = self._pdf.new_page(*self._page(number).get_size())
        self._alone.append(alone)
        for drawn in self._removed.pop(number, []):
            raw.FPDFPageObj_SetFillColor(drawn, 0, 0, 0, 255)
            raw.FPDFPage_InsertObject(alone, drawn)
        # Black on white.
        return ImageChops.invert(render_page(alone, is_grey=True))

    def _page(self, number: int) -> Any:  # noqa: ANN401 - pypdfium2 has no types
        if number not in self._pages:
            self._pages[number] = self._pdf[number]
        return self._pages[number]

    def _content(self, number: int) -> Any:  # noqa: ANN401 - pypdfium2 has no types
        if number not in self._contents:
            self._contents[number] = self._page(number).get_textpage()
        return self._contents[number]

    def _search(self, number: int, text: str) -> list[tuple[int, int]]:
        searcher = self._content(number).search(
            text, match_case=True, match_whole_word=self._is_whole_word
        )
        hits: list[tuple[int, int]] = []
        while len(hits) < MAX_OCCURRENCES and (hit := searcher.get_next()):
            hits.append(hit)
        return hits

    def _remove(self, number: int, drawn: Any) -> bool:  # noqa: ANN401 - pypdfium2 has no types
        """Remove a text object from its page, or from the form that it is nested in.

        Returns:
            Whether it was on the page itself, whose coordinates are then its own.
        """
        owners = self._owners_on(number)
        if _address(drawn) not in owners:
            return False
        _, owner = owners.pop(_address(drawn))
        if owner is None:
            raw.FPDFPage_RemoveObject(self._page(number), drawn)
        else:
            raw.FPDFFormObj_RemoveObject(owner, drawn)
        return owner is None

    def _copies(self, number: int, drawn: Any) -> list[Any]:  # noqa: ANN401
        """Return a text object and those with the same text in the same place.

        Of texts that stand twice at one place, removing one changes nothing.
        """
        content, own = self._content(number), _address(drawn)
        if number not in self._bounds:
            owners = self._owners_on(number)
            self._bounds[number] = {at: _bounds_of(one) for at, (one, _) in owners.items()}
        bounds = self._bounds[number].get(own) or _bounds_of(drawn)
        near = [
            self._owners_on(number)[address][0]
            for address, others in self._bounds[number].items()
            if address != own and address in self._owners_on(number) and _are_near(others, bounds)
        ]
        texts = {_text_of(drawn, content), _LEFT_OUT} if near else set()
        return [drawn, *(other for other in near if _text_of(other, content) in texts)]

    def _owners_on(self, number: int) -> dict[int, tuple[Any, Any]]:
        """Return each text object of a page with the form it is nested in, or None, by its address."""
        if number not in self._owners:
            page = self._page(number)
            owners: dict[int, tuple[Any, Any]] = {}
            for index in range(raw.FPDFPage_CountObjects(page)):
                _collect(raw.FPDFPage_GetObject(page, index), None, owners, 0)
            self._owners[number] = owners
        return self._owners[number]

    def _render(self, items: list[Item]) -> list[Image.Image]:
        """Return the pages that have items; others are empty pictures."""
        self._is_new_pass = True
        wanted = {box.page for item in items for box in item.boxes}
        pages = [
            render_page(self._page(number)) if number in wanted else Image.new("RGB", (1, 1))
            for number in range(max(wanted, default=-1) + 1)
        ]
        self._sizes |= {number: pages[number].size for number in wanted}
        return pages


def make_line(
    occurrence: int,
    text: str,
    line: Sequence[Letter],
    content: Any,  # noqa: ANN401 - pypdfium2 has no types
    height: float,
) -> Line:
    """Return a line of letters.

    Args:
        occurrence: number of the text's occurrence that it belongs to.
        text: what the letters shall be.
        line: the letters.
        content: text of their page.
        height: height of the page in points.
    """
    page = line[0].page
    low = (row for row in line if row.character.isalnum())
    return Line(
        occurrence,
        box_of(page, line, height, _MARGIN_MM),
        tuple(letter_box(letter, height) for letter in line),
        text,
        any(mm_of(row.top - row.bottom) < MIN_LETTER_MM for row in low),
        frame_of(content, line),
        has_symbols(content, line),
    )


def _collect(
    drawn: Any,  # noqa: ANN401
    owner: Any,  # noqa: ANN401
    owners: dict[int, tuple[Any, Any]],
    depth: int,
) -> None:
    if len(owners) > MAX_OBJECTS:
        raise DocumentError(f"A page has more than {MAX_OBJECTS} text objects.")
    kind = raw.FPDFPageObj_GetType(drawn)
    if kind == raw.FPDF_PAGEOBJ_TEXT:
        owners[_address(drawn)] = drawn, owner
    elif kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_DEPTH:
        for index in range(raw.FPDFFormObj_CountObjects(drawn)):
            _collect(raw.FPDFFormObj_GetObject(drawn, index), drawn, owners, depth + 1)


def _text_of(drawn: Any, content: Any) -> str:  # noqa: ANN401 - pypdfium2 has no types
    size = raw.FPDFTextObj_GetText(drawn, content, None, 0)
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFTextObj_GetText(
        drawn, content, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size
    )
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", errors="replace")


def _bounds_of(drawn: Any) -> tuple[float, ...]:  # noqa: ANN401 - pypdfium2 has no types
    sides = [ctypes.c_float() for _ in range(4)]
    raw.FPDFPageObj_GetBounds(drawn, *sides)
    return tuple(side.value for side in sides)


def _are_near(bounds: tuple[float, ...], others: tuple[float, ...]) -> bool:
    # The lower edge first, because most texts stand in another line.
    return all(abs(bounds[side] - others[side]) <= _NEAR_PT for side in (1, 0, 2, 3))


def _middle(letter: Letter) -> float:
    return (letter.bottom + letter.top) / 2


def _address(drawn: Any) -> int:  # noqa: ANN401 - pypdfium2 has no types
    return ctypes.cast(drawn, ctypes.c_void_p).value or 0
