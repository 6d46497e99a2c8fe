"""Text documents for test cases: built with python-docx, by hand, or saved by LibreOffice Writer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, corrupt, empty, forged, hostile, missing, nothing
from tests.evaluator_cases import file_builders
from tests.evaluator_cases.document_cases import at

if TYPE_CHECKING:
    from evaluators.testing.case import Case
    from tests.evaluator_cases.document_cases import Make

PATH = "~/Documents/letter"
POINT = 12_700
"""EMU in a point."""
MM = 36_000
"""EMU in a millimetre."""
WORDS = "Here are bold, slanted, lined, struck, H2O, x3, red, large, marked and mono words."
"""The formatted paragraph of `saved`."""
_FOLDER = Path(__file__).parent / "files"
_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
Block = Callable[[Any], Any]
"""Function that adds to a python-docx document, and returns the paragraph."""


def saved(form: str) -> Make:
    """Return a function that reads the letter that Writer 7.3 saved as ``odt`` or ``docx``.

    It has a heading, formatted words, paragraphs of all kinds, a table, two pictures, two landscape
    pages of A4, a header and a footer with page numbers.
    """
    return cache((_FOLDER / f"letter.{form}").read_bytes)


def docx(*blocks: Block | str) -> Make:
    """Return a function that creates a .docx of blocks, or plain paragraphs."""

    @cache
    def make() -> bytes:
        def build(document: Any) -> None:
            for block in blocks:
                (block if callable(block) else paragraph(block))(document)

        return file_builders.docx(build)

    return make


def odt(body: str, **more: Any) -> Make:
    """Return a function that creates an .odt of this body; `more` as for `file_builders.odf`."""
    return cache(lambda: file_builders.odf("text", body, **more))


def with_gap(before: str, behind: str, inserted: str) -> Make:
    """Return a function that creates an .odt of a text with a gap, into which a frame puts another text."""
    look = (
        '<style:style style:name="F" style:family="graphic"><style:graphic-properties style:wrap="run-through" '
        'style:run-through="foreground" style:vertical-pos="from-top" style:vertical-rel="paragraph" '
        'style:horizontal-pos="from-left" style:horizontal-rel="paragraph" fo:border="none" fo:padding="0cm" '
        'draw:fill="none"/></style:style>'
    )
    frame = (
        '<draw:frame draw:style-name="F" text:anchor-type="paragraph" svg:x="5.7cm" svg:y="0cm" svg:width="1cm">'
        f'<draw:text-box fo:min-height="0.4cm"><text:p>{inserted}</text:p></draw:text-box></draw:frame>'
    )
    gap = '<text:s text:c="8"/>'
    return odt(f"<text:p>{before}{gap}{behind}{frame if inserted else ''}</text:p>", automatic=look)


def with_control(text: str) -> Make:
    """Return a function that creates an .odt of a text behind a button that is not printed."""
    look = (
        '<style:style style:name="G" style:family="graphic"><style:graphic-properties style:wrap="run-through" '
        'style:run-through="foreground" style:vertical-pos="from-top" style:vertical-rel="page" '
        'style:horizontal-pos="from-left" style:horizontal-rel="page"/></style:style>'
    )
    button = (
        f'<office:forms xmlns:form="{_ODF}form:1.0"><form:form form:name="F"><form:button form:id="b" '
        'xml:id="b" form:label="" form:printable="false"/></form:form></office:forms><text:p>'
        '<draw:control draw:style-name="G" text:anchor-type="page" text:anchor-page-number="1" draw:control="b" '
        f'svg:x="1cm" svg:y="1cm" svg:width="18cm" svg:height="5cm"/>{text}</text:p>'
    )
    return odt(button, automatic=look)


def with_settings(body: str, kind: str, name: str, value: str) -> Make:
    """Return a function that creates an .odt on a black page with a footer ``Draft``, with one setting.

    Args:
        body: its body.
        kind: kind of the setting, ``view`` or ``configuration``.
        name: its name.
        value: ``true`` or ``false``.
    """
    settings = (
        f'<office:document-settings xmlns:office="{_ODF}office:1.0" xmlns:config="{_ODF}config:1.0" '
        'xmlns:ooo="http://openoffice.org/2004/office">'
        f'<office:settings><config:config-item-set config:name="ooo:{kind}-settings"><config:config-item '
        f'config:name="{name}" config:type="boolean">{value}</config:config-item></config:config-item-set>'
        "</office:settings></office:document-settings>"
    )
    styles = (
        '<office:automatic-styles><style:page-layout style:name="L"><style:page-layout-properties '
        'fo:page-width="21cm" fo:page-height="29.7cm" fo:margin="2cm" fo:background-color="#000000"/>'
        '<style:footer-style><style:header-footer-properties fo:min-height="1cm" '
        'fo:background-color="#ffffff"/></style:footer-style></style:page-layout></office:automatic-styles>'
        '<office:master-styles><style:master-page style:name="Standard" style:page-layout-name="L">'
        "<style:footer><text:p>Draft</text:p></style:footer></style:master-page></office:master-styles>"
    )
    return odt(body, styles=styles, files={"settings.xml": settings.encode()})


def odt_with(text: str, characters: str = "", paragraph_look: str = "") -> Make:
    """Return a function that creates an .odt of one paragraph with these attributes of its look."""
    automatic = (
        '<style:style style:name="P" style:family="paragraph">'
        f"<style:paragraph-properties {paragraph_look}/>"
        f"<style:text-properties {characters}/></style:style>"
    )
    return odt(f'<text:p text:style-name="P">{text}</text:p>', automatic=automatic)


def paragraph(*pieces: str | tuple[str, dict[str, Any]], **look: Any) -> Block:
    """Return a block that is a paragraph.

    Args:
        pieces: texts; with attributes of their font, ``rgb`` for the colour.
        look: attributes of its format; ``alignment`` is 0 left, 1 center, 2 right; whole numbers are EMU.
    """

    def add(document: Any) -> Any:
        from docx.shared import Length

        added = document.add_paragraph()
        for piece in pieces:
            text, font = (piece, {}) if isinstance(piece, str) else piece
            set_font(added.add_run(text), **font)
        for name, value in look.items():
            is_length = type(value) is int and name != "alignment"
            setattr(added.paragraph_format, name, Length(value) if is_length else value)
        return added

    return add


def set_font(run: Any, **font: Any) -> None:
    """Set attributes of a run's font; ``rgb`` is its colour."""
    from docx.shared import RGBColor

    for name, value in font.items():
        if name == "rgb":
            run.font.color.rgb = RGBColor.from_string(value)
        else:
            setattr(run.font, name, value)


def heading(text: str, level: int) -> Block:
    """Return a block that is a heading."""
    return lambda document: document.add_heading(text, level)


def footer(*pieces: str, part: str = "footer", **look: Any) -> Block:
    """Return a block that sets the text of the footer, or of the header."""

    def add(document: Any) -> None:
        added = getattr(document.sections[0], part).paragraphs[0]
        for piece in pieces:
            added.add_run(piece)
        for name, value in look.items():
            setattr(added.paragraph_format, name, value)

    return add


def table(*rows: tuple[str, ...], font: dict[str, Any] | None = None) -> Block:
    """Return a block that is a table."""

    def add(document: Any) -> None:
        grid = document.add_table(len(rows), len(rows[0]))
        for row, cells in enumerate(rows):
            for column, content in enumerate(cells):
                set_font(grid.cell(row, column).paragraphs[0].add_run(content), **(font or {}))

    return add


def from_right(block: Block) -> Block:
    """Return a block that is a table whose first column is displayed at the right."""

    def add(document: Any) -> None:
        from docx.oxml import OxmlElement

        block(document)
        document.tables[-1]._tbl.tblPr.append(OxmlElement("w:bidiVisual"))

    return add


def unseen(block: Block, how: str) -> Block:
    """Return a block whose text is ``white``, ``tiny``, ``hidden`` or ``away`` (off the page)."""

    def add(document: Any) -> None:
        added = block(document)
        if how == "away":
            added.paragraph_format.left_indent = -400 * MM
            return
        fonts: dict[str, dict[str, Any]] = {
            "white": {"rgb": "FFFFFF"},
            "tiny": {"size": POINT},
            "hidden": {"hidden": True},
        }
        for run in added.runs:
            set_font(run, **fonts[how])

    return add


def forged_cases(block: Block, text: str, args: dict[str, Any], *hows: str) -> tuple[Case, ...]:
    """Return cases in which the right block is not seen, and its text is seen in the footer."""
    return tuple(
        forged(
            f"{how}, and its text in the footer",
            at(PATH, docx("Words.", unseen(block, how), footer(text))),
            **args,
        )
        for how in hows or ("away", "hidden")
    )


def saved_cases(args: dict[str, Any]) -> tuple[Case, ...]:
    """Return cases of the letter that Writer saved, which has what the arguments ask for."""
    return tuple(
        another_way(f"saved by Writer as .{form}", at(PATH, saved(form)), **args)
        for form in ("odt", "docx")
    )


def file_cases(make: Make, args: dict[str, Any]) -> tuple[Case, ...]:
    """Return cases of missing, corrupt, empty and hostile files, none of which needs a renderer."""

    def link(fixture: Any) -> None:
        fixture.write("/srv/out", make())
        fixture.link(PATH, "/srv/out")

    return (
        missing("no file", nothing, **args),
        corrupt("half of the file", at(PATH, lambda: make()[: len(make()) // 2]), **args),
        empty("empty file", at(PATH, lambda: b""), **args),
        hostile("link to the matching file", link, **args),
        hostile("file over the size limit", lambda fixture: fixture.huge(PATH), **args),
    )
