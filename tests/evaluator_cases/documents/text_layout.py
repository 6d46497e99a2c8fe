"""Cases of the evaluators of text documents' layout."""

from __future__ import annotations

from typing import Any

from evaluators.documents import text_layout
from evaluators.testing.case import (
    CaseKind,
    CaseTable,
    another_way,
    forged,
    near_miss,
    negative,
    positive,
)
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.forged_documents import forgeries
from tests.evaluator_cases.text_files import (
    MM,
    PATH,
    POINT,
    Block,
    docx,
    file_cases,
    footer,
    forged_cases,
    odt,
    odt_with,
    paragraph,
    saved_cases,
    set_font,
    table,
    unseen,
    with_settings,
)

_PAGED = "what is counted is not text, so none of it can be hidden"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def _tabbed(position_mm: float, alignment: int) -> Block:
    def add(document: Any) -> Any:
        added = document.add_paragraph("Tea\t2.50")
        stops = added.paragraph_format.tab_stops
        stops.add_tab_stop(round(position_mm * MM), list(_tab_alignments())[alignment])
        return added

    return add


def _tab_alignments() -> Any:
    from docx.enum.text import WD_TAB_ALIGNMENT

    return WD_TAB_ALIGNMENT


def _broken_before(content: str) -> Block:
    return paragraph(content, page_break_before=True)


def _break(document: Any) -> None:
    document.add_page_break()


def _page(width_mm: float, height_mm: float) -> Block:
    def add(document: Any) -> None:
        section = document.sections[-1]
        section.page_width, section.page_height = round(width_mm * MM), round(height_mm * MM)

    return add


def _next_section(document: Any) -> None:
    document.add_section()


def _numbered(part: str = "footer", alignment: int = 0, **font: Any) -> Block:
    """Return a block that adds page numbers to the footer or header."""

    def add(document: Any) -> Any:
        from docx.oxml import parse_xml

        added = getattr(document.sections[0], part).paragraphs[0]
        added.alignment = alignment
        for xml in (
            '<w:fldChar xmlns:w="{}" w:fldCharType="begin"/>',
            '<w:instrText xmlns:w="{}">PAGE</w:instrText>',
            '<w:fldChar xmlns:w="{}" w:fldCharType="separate"/>',
            '<w:t xmlns:w="{}">1</w:t>',
            '<w:fldChar xmlns:w="{}" w:fldCharType="end"/>',
        ):
            run = added.add_run()
            set_font(run, **font)
            run._r.append(parse_xml(xml.format(_W)))
        return added

    return add


def _tinted(colour: str) -> Block:
    def add(document: Any) -> Any:
        from docx.oxml import parse_xml

        added = document.add_paragraph("Tinted words")
        shade = f'<w:shd xmlns:w="{_W}" w:val="clear" w:color="auto" w:fill="{colour}"/>'
        added._p.get_or_add_pPr().append(parse_xml(shade))
        return added

    return add


def _listed(*items: str, style: str = "List Number") -> Block:
    def add(document: Any) -> Any:
        return [document.add_paragraph(item, style=style) for item in items][-1]

    return add


def _word(**font: Any) -> Block:
    return paragraph("It is ", ("now", font), " or never")


_MONO: dict[str, Any] = {"path": PATH, "font": "liberation mono", "text": "now"}
_ALL: dict[str, Any] = {"path": PATH, "font": "Liberation Mono"}
_mono = {"name": "Liberation Mono"}
_MARKED: dict[str, Any] = {"path": PATH, "text": "now", "colour": "FFFF00"}
_yellow, _green = {"highlight_color": 7}, {"highlight_color": 4}
_WIDE: dict[str, Any] = {"path": PATH, "text": "Wide lines", "lines": 2}
_wide = paragraph("Wide lines", line_spacing=2.0)
_AFTER: dict[str, Any] = {"path": PATH, "text": "Airy words", "side": "after", "space_pt": 12}
_airy = paragraph("Airy words", space_before=6 * POINT, space_after=12 * POINT)
_FIRST: dict[str, Any] = {
    "path": PATH,
    "text": "Indented words",
    "side": "first_line",
    "indent_mm": 5,
}
_indented = paragraph("Indented words", left_indent=10 * MM, first_line_indent=5 * MM)
_TAB: dict[str, Any] = {"path": PATH, "text": "Tea\t2.50", "position_mm": 120, "alignment": "right"}
_LEFT, _CENTER, _RIGHT = 0, 1, 2
_TINT: dict[str, Any] = {"path": PATH, "text": "Tinted words", "colour": "CCFFCC"}
_LIST = '<text:list text:style-name="L"><text:list-item><text:p>Milk</text:p></text:list-item></text:list>'
_NUMBERED = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" text:style-name="W" '
    'style:num-format="1" style:num-suffix="."><style:list-level-properties '
    'text:min-label-width="0.6cm"/></text:list-level-style-number></text:list-style>'
)
_WHITE = (
    '<office:styles><style:style style:name="W" style:family="text">'
    '<style:text-properties fo:color="#ffffff"/></style:style></office:styles>'
)
_LABEL: dict[str, Any] = {"path": PATH, "text": "Milk", "label": "1."}
_BREAK: dict[str, Any] = {"path": PATH, "text": "Annex"}
_PAGES: dict[str, Any] = {"path": PATH, "count": 2}
_A4: dict[str, Any] = {"path": PATH, "width_mm": 297, "height_mm": 210}
_DRAFT: dict[str, Any] = {"path": PATH, "margin": "header", "text": "Draft"}
_NUMBERS: dict[str, Any] = {"path": PATH, "margin": "footer", "alignment": "right"}

TABLES = (
    CaseTable(
        text_layout.document_text_font,
        MachineFixture,
        (
            positive("passage", at(PATH, docx(_word(**_mono))), **_MONO),
            positive(
                "all text",
                at(PATH, docx(paragraph(("a", _mono)), table(("b",), font=_mono))),
                **_ALL,
            ),
            negative("default font", at(PATH, docx(_word())), **_MONO),
            near_miss(
                "all but a table", at(PATH, docx(paragraph(("a", _mono)), table(("b",)))), **_ALL
            ),
            near_miss("all but a word", at(PATH, docx(_word(**_mono))), **_ALL),
            near_miss("one of two occurrences", at(PATH, docx(_word(**_mono), "now")), **_MONO),
            near_miss("no text", at(PATH, docx("")), **_ALL),
            *forged_cases(_word(**_mono), "now", _MONO),
            forged(
                "all text is white",
                at(PATH, docx(unseen(paragraph(("a", _mono)), "white"), footer("a"))),
                **_ALL,
            ),
            *saved_cases({"path": PATH, "font": "Liberation Mono", "text": "mono"}),
            *file_cases(docx(_word(**_mono)), _MONO),
        ),
    ),
    CaseTable(
        text_layout.document_text_highlighted,
        MachineFixture,
        (
            *forgeries("document_text_highlighted"),
            positive("docx", at(PATH, docx(_word(**_yellow))), **_MARKED),
            positive("removed", at(PATH, docx(_word())), **{**_MARKED, "colour": "none"}),
            negative("no highlighting", at(PATH, docx(_word())), **_MARKED),
            near_miss("another colour", at(PATH, docx(_word(**_green))), **_MARKED),
            near_miss(
                "not removed", at(PATH, docx(_word(**_yellow))), **{**_MARKED, "colour": "none"}
            ),
            near_miss("one of two occurrences", at(PATH, docx(_word(**_yellow), "now")), **_MARKED),
            *forged_cases(_word(**_yellow), "now", _MARKED),
            *saved_cases({**_MARKED, "text": "marked"}),
            *file_cases(docx(_word(**_yellow)), _MARKED),
        ),
    ),
    CaseTable(
        text_layout.document_line_spacing,
        MachineFixture,
        (
            positive("docx", at(PATH, docx(_wide)), **_WIDE),
            negative("single", at(PATH, docx("Wide lines")), **_WIDE),
            near_miss(
                "1.5 lines", at(PATH, docx(paragraph("Wide lines", line_spacing=1.5))), **_WIDE
            ),
            near_miss(
                "fixed", at(PATH, docx(paragraph("Wide lines", line_spacing=2 * POINT))), **_WIDE
            ),
            near_miss("one of two paragraphs", at(PATH, docx(_wide, "Wide lines")), **_WIDE),
            *forged_cases(_wide, "Wide lines", _WIDE),
            *saved_cases(_WIDE),
            another_way(
                "in percent", at(PATH, odt_with("Wide lines", "", 'fo:line-height="200%"')), **_WIDE
            ),
            *file_cases(docx(_wide), _WIDE),
        ),
    ),
    CaseTable(
        text_layout.document_paragraph_spacing,
        MachineFixture,
        (
            *forgeries("document_paragraph_spacing"),
            positive("after", at(PATH, docx(_airy)), **_AFTER),
            positive(
                "before", at(PATH, docx(_airy)), **{**_AFTER, "side": "before", "space_pt": 6}
            ),
            negative("none", at(PATH, docx(paragraph("Airy words", space_after=0))), **_AFTER),
            near_miss(
                "before instead of after",
                at(PATH, docx(paragraph("Airy words", space_before=12 * POINT, space_after=0))),
                **_AFTER,
            ),
            near_miss(
                "11 pt", at(PATH, docx(paragraph("Airy words", space_after=11 * POINT))), **_AFTER
            ),
            *forged_cases(_airy, "Airy words", _AFTER),
            *saved_cases(_AFTER),
            *file_cases(docx(_airy), _AFTER),
        ),
    ),
    CaseTable(
        text_layout.document_paragraph_indented,
        MachineFixture,
        (
            *forgeries("document_paragraph_indented"),
            positive("first line", at(PATH, docx(_indented)), **_FIRST),
            positive(
                "left", at(PATH, docx(_indented)), **{**_FIRST, "side": "left", "indent_mm": 10}
            ),
            positive(
                "right",
                at(PATH, docx(paragraph("Indented words", right_indent=10 * MM))),
                **{**_FIRST, "side": "right", "indent_mm": 10},
            ),
            negative("none", at(PATH, docx("Indented words")), **_FIRST),
            near_miss(
                "left only",
                at(PATH, docx(paragraph("Indented words", left_indent=5 * MM))),
                **_FIRST,
            ),
            near_miss("spaces", at(PATH, docx("   Indented words")), **_FIRST),
            *forged_cases(_indented, "Indented words", _FIRST, "white", "hidden"),
            *saved_cases(_FIRST),
            *file_cases(docx(_indented), _FIRST),
        ),
    ),
    CaseTable(
        text_layout.document_tab_stop,
        MachineFixture,
        (
            positive("right", at(PATH, docx(_tabbed(120, _RIGHT))), **_TAB),
            positive("left", at(PATH, docx(_tabbed(120, _LEFT))), **{**_TAB, "alignment": "left"}),
            negative("none", at(PATH, docx("Tea\t2.50")), **_TAB),
            near_miss("another alignment", at(PATH, docx(_tabbed(120, _CENTER))), **_TAB),
            near_miss("another position", at(PATH, docx(_tabbed(119, _RIGHT))), **_TAB),
            near_miss("spaces for the tab", at(PATH, docx("Tea      2.50")), **_TAB),
            *forged_cases(_tabbed(120, _RIGHT), "Tea\t2.50", _TAB, "white", "hidden"),
            *saved_cases(_TAB),
            *file_cases(docx(_tabbed(120, _RIGHT)), _TAB),
        ),
    ),
    CaseTable(
        text_layout.document_paragraph_background,
        MachineFixture,
        (
            positive("docx", at(PATH, docx(_tinted("CCFFCC"))), **_TINT),
            negative("none", at(PATH, docx("Tinted words")), **_TINT),
            near_miss("another colour", at(PATH, docx(_tinted("CCFFCD"))), **_TINT),
            near_miss(
                "text highlighted", at(PATH, docx(paragraph(("Tinted words", _green)))), **_TINT
            ),
            *forged_cases(_tinted("CCFFCC"), "Tinted words", _TINT),
            *saved_cases(_TINT),
            *file_cases(docx(_tinted("CCFFCC")), _TINT),
        ),
    ),
    CaseTable(
        text_layout.document_list_label,
        MachineFixture,
        (
            positive("docx", at(PATH, docx(_listed("Milk", "Tea"))), **_LABEL),
            positive(
                "second", at(PATH, docx(_listed("Milk", "Tea"))), path=PATH, text="Tea", label="2."
            ),
            positive(
                "any",
                at(PATH, docx(_listed("Milk", style="List Bullet"))),
                **{**_LABEL, "label": "*"},
            ),
            negative("no list", at(PATH, docx("Milk")), **_LABEL),
            near_miss("typed number", at(PATH, docx("1. Milk")), **_LABEL),
            near_miss("no list, for any label", at(PATH, docx("Milk")), **{**_LABEL, "label": "*"}),
            near_miss("bullet", at(PATH, docx(_listed("Milk", style="List Bullet"))), **_LABEL),
            near_miss("second in the list", at(PATH, docx(_listed("Tea", "Milk"))), **_LABEL),
            *forged_cases(_listed("Milk"), "Milk", _LABEL, "white", "hidden"),
            forged(
                "white label", at(PATH, odt(_LIST, automatic=_NUMBERED, styles=_WHITE)), **_LABEL
            ),
            *saved_cases(_LABEL),
            *file_cases(docx(_listed("Milk")), _LABEL),
        ),
    ),
    CaseTable(
        text_layout.document_page_break_before,
        MachineFixture,
        (
            *forgeries("document_page_break_before"),
            positive("docx", at(PATH, docx("a", _broken_before("Annex"))), **_BREAK),
            negative("no break", at(PATH, docx("a", "Annex")), **_BREAK),
            near_miss("many empty lines", at(PATH, docx("a", *[""] * 60, "Annex")), **_BREAK),
            near_miss(
                "before another", at(PATH, docx("a", _broken_before("b"), "Annex")), **_BREAK
            ),
            near_miss("behind it", at(PATH, docx("Annex", _broken_before("b"))), **_BREAK),
            *forged_cases(_broken_before("Annex"), "Annex", _BREAK),
            another_way("a break of its own", at(PATH, docx("a", _break, "Annex")), **_BREAK),
            another_way(
                "empty lines after it", at(PATH, docx("a", _break, "", "", "Annex")), **_BREAK
            ),
            *saved_cases(_BREAK),
            *file_cases(docx("a", _broken_before("Annex")), _BREAK),
        ),
    ),
    CaseTable(
        text_layout.document_page_count,
        MachineFixture,
        (
            positive("docx", at(PATH, docx("a", _broken_before("Annex"))), **_PAGES),
            negative("one page", at(PATH, docx("a", "Annex")), **_PAGES),
            near_miss(
                "three pages",
                at(PATH, docx("a", _broken_before("b"), _broken_before("c"))),
                **_PAGES,
            ),
            *saved_cases(_PAGES),
            *file_cases(docx("a", _broken_before("Annex")), _PAGES),
        ),
        inapplicable={CaseKind.FORGED: _PAGED},
    ),
    CaseTable(
        text_layout.document_page_size,
        MachineFixture,
        (
            positive("docx", at(PATH, docx("a", _page(297, 210))), **_A4),
            negative("letter", at(PATH, docx("a")), **_A4),
            near_miss("upright", at(PATH, docx("a", _page(210, 297))), **_A4),
            near_miss("a millimetre too wide", at(PATH, docx("a", _page(298, 210))), **_A4),
            near_miss(
                "only the second page",
                at(PATH, docx("a", _page(210, 297), _next_section, "b", _page(297, 210))),
                **_A4,
            ),
            *saved_cases(_A4),
            *file_cases(docx("a", _page(297, 210)), _A4),
        ),
        inapplicable={CaseKind.FORGED: _PAGED},
    ),
    CaseTable(
        text_layout.document_margin_has_text,
        MachineFixture,
        (
            positive(
                "header", at(PATH, docx("a", footer("Draft of May", part="header"))), **_DRAFT
            ),
            positive(
                "footer", at(PATH, docx("a", footer("Draft"))), **{**_DRAFT, "margin": "footer"}
            ),
            negative("none", at(PATH, docx("a")), **_DRAFT),
            near_miss("in the body", at(PATH, docx("Draft")), **_DRAFT),
            near_miss("in the footer", at(PATH, docx("a", footer("Draft"))), **_DRAFT),
            near_miss(
                "empty expected text",
                at(PATH, docx("a", footer("Draft", part="header"))),
                **{**_DRAFT, "text": ""},
            ),
            forged(
                "off the page",
                at(PATH, docx("Draft", footer("Draft", part="header", left_indent=-400 * MM))),
                **_DRAFT,
            ),
            *(
                kind(
                    name,
                    at(PATH, with_settings("<text:p>a</text:p>", "view", "InBrowseMode", value)),
                    **{**_DRAFT, "margin": "footer"},
                )
                for kind, name, value in (
                    (forged, "in the web view, which has no footer", "true"),
                    (another_way, "in the view of pages", "false"),
                )
            ),
            forged(
                "in lines that end off the page",
                at(
                    PATH, docx("Draft", footer("Draft", part="header", first_line_indent=-400 * MM))
                ),
                **_DRAFT,
            ),
            *saved_cases(_DRAFT),
            *file_cases(docx("a", footer("Draft", part="header")), _DRAFT),
        ),
    ),
    CaseTable(
        text_layout.document_pages_numbered,
        MachineFixture,
        (
            *forgeries("document_pages_numbered"),
            positive("footer", at(PATH, docx("a", _numbered(alignment=2))), **_NUMBERS),
            positive(
                "header", at(PATH, docx("a", _numbered("header"))), path=PATH, margin="header"
            ),
            negative("none", at(PATH, docx("a")), **_NUMBERS),
            near_miss("typed", at(PATH, docx("a", footer("1", alignment=2))), **_NUMBERS),
            near_miss("on the left", at(PATH, docx("a", _numbered(alignment=0))), **_NUMBERS),
            near_miss(
                "in the header", at(PATH, docx("a", _numbered("header", alignment=2))), **_NUMBERS
            ),
            forged("white", at(PATH, docx("1", _numbered(alignment=2, rgb="FFFFFF"))), **_NUMBERS),
            forged("tiny", at(PATH, docx("1", _numbered(alignment=2, size=POINT))), **_NUMBERS),
            *saved_cases(_NUMBERS),
            *file_cases(docx("a", _numbered(alignment=2)), _NUMBERS),
        ),
    ),
)
