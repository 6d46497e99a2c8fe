"""PDFs for test cases, written object by object."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tests.evaluator_cases.file_builders import pdf_of

if TYPE_CHECKING:
    from tests.evaluator_cases.document_cases import Make

OFF = "/OCProperties << /OCGs [4 0 R] /D << /OFF [4 0 R] >> >>"
"""Entry of the catalogue: the layer L is off."""
TICK = "2 w 102 102 m 112 112 l S 102 112 m 112 102 l S"
_FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_LAYER = "<< /Type /OCG /Name (L) >>"
_RESOURCES = "/Resources << /Font << /F 3 0 R >> /Properties << /L 4 0 R >> >>"


def draw(text: str, place: str = "72 720", size: int = 12) -> str:
    """Return the operators that draw a text; brackets must be balanced."""
    return f"BT /F {size} Tf {place} Td ({text}) Tj ET"


def page(content: str, root: str = "") -> Make:
    """Return a function that creates a PDF of one page; ``root`` is added to its catalogue."""
    return pages(content, root=root)


def pages(*contents: str, title: str = "", box: str = "0 0 612 792", root: str = "") -> Make:
    """Return a function that creates a PDF.

    Args:
        contents: operators of each page.
        title: title in the document information.
        box: the pages' MediaBox.
        root: entries of the catalogue.
    """

    @cache
    def make() -> bytes:
        return _pdf(list(contents), title=title, box=box, root=root)

    return make


def outlined(*titles: str) -> Make:
    """Return a function that creates a PDF whose outline has an entry for each page."""

    @cache
    def make() -> bytes:
        first = 5 + 2 * len(titles)
        entries = [f"<< /Type /Outlines /First {first + 1} 0 R /Last {first + len(titles)} 0 R >>"]
        for number, title in enumerate(titles, 1):
            following = f"/Next {first + number + 1} 0 R" if number < len(titles) else ""
            target = f"/Dest [{4 + 2 * number} 0 R /Fit]"
            entries.append(f"<< /Title ({title}) /Parent {first} 0 R {following} {target} >>")
        return _pdf([""] * len(titles), root=f"/Outlines {first} 0 R", more=entries)

    return make


def renamed(text: str, glyph: str, name: str) -> Make:
    """Return a function that creates a PDF with a text, one glyph of which has the name of another letter."""

    @cache
    def make() -> bytes:
        names = (
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def "
            "1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfrange <20> <7E> <0020> "
            f"<{ord(glyph):02x}> <{ord(glyph):02x}> <{ord(name):04x}> endbfrange endcmap end end"
        )
        font = _FONT.replace(" >>", " /ToUnicode 7 0 R >>")
        return _pdf([draw(text)], more=[_stream(names, "")], font=font)

    return make


def form(field: str, more: str = "", root: str = "") -> Make:
    """Return a function that creates a PDF of one page with a field.

    Args:
        field: entries of the field, which may refer to the appearances 8 (off) and 9 (on).
        more: entries of one more object, which is a field, too, if it has a place.
        root: more entries of the catalogue.
    """

    @cache
    def make() -> bytes:
        fields = "7 0 R 10 0 R" if "/Rect" in more else "7 0 R"
        entries = f"/AcroForm << /Fields [{fields}] /DR << /Font << /F 3 0 R >> >> /DA (/F 12 Tf 0 g) >>{root}"
        field_object, _, shown = field.partition("\n")
        drawn = shown or "0.5 0.5 13 13 re S 2 w 3 3 m 11 11 l S 3 11 m 11 3 l S"
        size = "150 20" if shown else "14 14"
        objects = [
            f"<< /Type /Annot /Subtype /Widget {field_object} >>",
            _stream("0.5 0.5 13 13 re S", "/Type /XObject /Subtype /Form /BBox [0 0 14 14]"),
            _stream(drawn, f"/Type /XObject /Subtype /Form /BBox [0 0 {size}] {_RESOURCES}"),
            f"<< {more} >>",
        ]
        return _pdf([draw("Form")], root=entries, more=objects, annots=f"/Annots [{fields}]")

    return make


def text_field(
    name: str, value: str, *, shown: str = "", left: int = 100, flags: int = 4, look: str = "0 g"
) -> str:
    """Return the entries of a text field; ``shown`` is the text of its appearance, if it has one."""
    appearance = "/AP << /N 9 0 R >>" if shown else ""
    return (
        f"/FT /Tx /T ({name}) /V ({value}) /Rect [{left} 160 {left + 150} 180] /F {flags} "
        f"/DA (/F 12 Tf {look}) {appearance}" + (f"\n{draw(shown, '2 5')}" if shown else "")
    )


def tick_box(
    name: str,
    value: str,
    *,
    state: str = "",
    on: str = "Yes",
    flags: int = 4,
    has_mark: bool = True,
) -> str:
    """Return the entries of a check box.

    Args:
        name: its name.
        value: its value.
        state: what it draws, by default its value.
        on: name of the ticked state.
        flags: flags of the annotation.
        has_mark: whether the ticked state draws a mark.
    """
    return (
        f"/FT /Btn /T ({name}) /V /{value} /AS /{state or value} /Rect [100 100 114 114] /F {flags} "
        f"/AP << /N << /{on} {9 if has_mark else 8} 0 R /Off 8 0 R >> >>"
    )


def _pdf(
    contents: list[str],
    *,
    title: str = "",
    box: str = "0 0 612 792",
    root: str = "",
    more: list[str] | None = None,
    annots: str = "",
    font: str = _FONT,
) -> bytes:
    """Build a PDF: catalogue, pages, font 3, layer 4, stream and page of each content, further objects."""
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(len(contents)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {root} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>",
        font,
        _LAYER,
    ]
    for content in contents:
        objects += [
            _stream(content),
            (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] {_RESOURCES} {annots} "
                f"/Contents {len(objects) + 1} 0 R >>"
            ),
        ]
    objects += more or []
    info = f"/Info {len(objects) + 1} 0 R" if title else ""
    return pdf_of([*objects, f"<< /Title ({title}) >>"] if title else objects, info)


def _stream(data: str, entries: str = "") -> str:
    return f"<< {entries} /Length {len(data)} >>\nstream\n{data}\nendstream"
