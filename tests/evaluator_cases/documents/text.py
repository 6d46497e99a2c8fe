"""Cases of the evaluators of text documents."""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING, Any

from evaluators.documents import text
from evaluators.testing.case import CaseTable, another_way, hostile, near_miss, negative, positive
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases import docx_ways, file_builders, odf_page_ways
from tests.evaluator_cases.document_cases import at, document_cases
from tests.evaluator_cases.docx_ways import (
    inkless_neighbour_cases,
    shown_docx_picture_cases,
    shown_run_cases,
    styled_table_cases,
    wrapped_cell_cases,
)
from tests.evaluator_cases.look_ways import look_cases
from tests.evaluator_cases.odf_page_ways import (
    blank_cases,
    default_share_cases,
    default_size_cases,
    displayed_picture_cases,
    ground_cases,
    own_colour_cases,
    repeated_cases,
    table_ground_cases,
)
from tests.evaluator_cases.odf_ways import (
    align_cases,
    body_cases,
    cell_cases,
    heading_level_cases,
    look_value_cases,
    nested_style_cases,
    page_cases,
    part_cases,
    share_cases,
    shown_picture_cases,
)
from tests.evaluator_cases.text_ways import (
    alignment_cases,
    heading_cases,
    hidden_cases,
    paragraph_cases,
    passage_cases,
    picture_count_cases,
    table_cases,
    underline_cases,
)

if TYPE_CHECKING:
    from tests.evaluator_cases.document_cases import Make

PATH = "~/Documents/letter"
_STYLES = (
    '<style:style style:name="B" style:family="text"><style:text-properties '
    'fo:font-weight="bold" fo:font-style="italic" style:text-underline-style="solid" '
    'fo:color="#ff0000" fo:font-size="18pt"/></style:style>'
    '<style:style style:name="C" style:family="paragraph">'
    '<style:paragraph-properties fo:text-align="center"/></style:style>'
    '<style:style style:name="N" style:family="text"><style:text-properties '
    'fo:font-weight="normal" style:text-underline-style="none"/></style:style>'
)
_TABLE = (
    "<table:table><table:table-row><table:table-cell><text:p>Name</text:p></table:table-cell>"
    "<table:table-cell><text:p>Age</text:p></table:table-cell></table:table-row>"
    "<table:table-row><table:table-cell><text:p>Ann</text:p></table:table-cell>"
    "<table:table-cell><text:p>31</text:p></table:table-cell></table:table-row></table:table>"
)
_IMAGE = '<text:p><draw:frame><draw:image xlink:href="Pictures/{}.png"/></draw:frame></text:p>'


def odt(body: str, **more: Any) -> Make:
    """Return a function that creates an .odt of this body, with the styles B, C and N."""

    @cache
    def make() -> bytes:
        return file_builders.odf("text", body, automatic=_STYLES, **more)

    return make


def docx(*blocks: Any) -> Make:
    """Return a function that creates a .docx of blocks: functions of the document, or plain paragraphs."""

    @cache
    def make() -> bytes:
        def build(document: Any) -> None:
            for block in blocks:
                if callable(block):
                    block(document)
                else:
                    document.add_paragraph(block)

        return file_builders.docx(build)

    return make


def styled(before: str, passage: str, after: str, **font: Any) -> Any:
    """Return a block with a formatted passage."""

    def add(document: Any) -> None:
        paragraph = document.add_paragraph(before)
        run = paragraph.add_run(passage)
        for name, value in font.items():
            target = run.font.color if name == "rgb" else run.font
            setattr(target, name, value)
        paragraph.add_run(after)

    return add


def _red() -> Any:
    from docx.shared import RGBColor

    return RGBColor(255, 0, 0)


def _points(size: float) -> Any:
    from docx.shared import Pt

    return Pt(size)


def aligned(content: str, alignment: int) -> Any:
    """Return a block that is aligned: 0 left, 1 center, 2 right."""

    def add(document: Any) -> None:
        document.add_paragraph(content).alignment = alignment

    return add


def table(*rows: tuple[str, ...]) -> Any:
    """Return a block that is a table."""

    def add(document: Any) -> None:
        grid = document.add_table(len(rows), len(rows[0]))
        for row, cells in enumerate(rows):
            for column, content in enumerate(cells):
                grid.cell(row, column).text = content

    return add


def picture(seed: int) -> Any:
    """Return a block that is a picture."""
    return lambda document: document.add_picture(
        io.BytesIO(file_builders.encoded(file_builders.noise(seed, (32, 24)))), width=400_000
    )


BARE: dict[str, Any] = {"odt": odt(""), "docx": docx()}
LETTER = "<text:h text:outline-level='1'>Offer</text:h><text:p>Dear Ann,</text:p><text:p/><text:p>yes.</text:p>"
_letter = {
    "docx": docx(lambda document: document.add_heading("Offer", 1), "Dear Ann,", "", "yes."),
    "odt": odt(LETTER),
}
_ANN: dict[str, Any] = {"path": PATH, "text": "Dear Ann,"}
_WHOLE: dict[str, Any] = {"path": PATH, "text": "Offer\nDear Ann,\nyes."}
_HEAD: dict[str, Any] = {"path": PATH, "text": "Offer", "level": 1}
_heading = {"docx": _letter["docx"], "odt": _letter["odt"]}


def _marked(text: str, sign: str) -> str:
    """Return the XML of a passage, in style B if the sign is a plus."""
    return f"<text:span text:style-name='B'>{text}</text:span>" if sign == "+" else text


_SPAN = "<text:p>It is <text:span text:style-name='B'>now</text:span> or never</text:p>"


def _styled_docx(**font: Any) -> Make:
    return docx(styled("It is ", "now", " or never", **font))


_bold = {"docx": _styled_docx(bold=True), "odt": odt(_SPAN)}
_BOLD: dict[str, Any] = {"path": PATH, "text": "now", "look": "bold"}
_RED: dict[str, Any] = {"path": PATH, "text": "now", "colour": "FF0000"}
_LARGE: dict[str, Any] = {"path": PATH, "text": "now", "size_pt": 18}


@cache
def _red_docx() -> bytes:
    return _styled_docx(rgb=_red())()


@cache
def _large_docx() -> bytes:
    return _styled_docx(size=_points(18))()


_colour: dict[str, Make] = {"docx": _red_docx, "odt": odt(_SPAN)}
_size: dict[str, Make] = {"docx": _large_docx, "odt": odt(_SPAN)}
_MIDDLE: dict[str, Any] = {"path": PATH, "text": "Title", "alignment": "center"}
_middle = {
    "docx": docx(aligned("Title", 1)),
    "odt": odt("<text:p text:style-name='C'>Title</text:p>"),
}
_CELLS: dict[str, Any] = {"path": PATH, "rows": [["Name", "Age"], ["Ann", "31"]]}
_cells = {"docx": docx(table(("Name", "Age"), ("Ann", "31"))), "odt": odt(_TABLE)}
_TWO: dict[str, Any] = {"path": PATH, "count": 2}
_PNG = file_builders.encoded(file_builders.noise(1, (16, 12)))
_pictures = {
    "docx": docx(picture(1), picture(2)),
    "odt": odt(
        _IMAGE.format(1) + _IMAGE.format(2),
        files={"Pictures/1.png": _PNG, "Pictures/2.png": _PNG},
    ),
}
_WEIGHTS = {
    **dict.fromkeys(("bold", "600", "700", "800", "900"), True),
    **dict.fromkeys(("normal", "100", "500"), False),
}
_SLANTS = {"italic": True, "oblique": True, "normal": False}
_UNDERLINES = {"solid": True, "wave": True, "none": False}
SPACES = "white space at the ends of paragraphs is ignored"

TABLES = (
    CaseTable(
        text.document_text_equals,
        MachineFixture,
        (
            positive("docx", at(PATH, _letter["docx"]), **_WHOLE),
            positive("odt", at(PATH, _letter["odt"]), **_WHOLE),
            positive(
                "odt with spaces, tabs and line breaks",
                at(
                    PATH,
                    odt("<text:p> a<text:s text:c='2'/>b<text:tab/>c<text:line-break/>d </text:p>"),
                ),
                path=PATH,
                text="a  b\tc\nd",
            ),
            negative("different text", at(PATH, docx("No.")), **_WHOLE),
            near_miss(
                "additional paragraph", at(PATH, docx("Offer", "Dear Ann,", "yes.", "PS")), **_WHOLE
            ),
            near_miss("missing paragraph", at(PATH, docx("Offer", "Dear Ann,")), **_WHOLE),
            near_miss("different order", at(PATH, docx("Dear Ann,", "Offer", "yes.")), **_WHOLE),
            near_miss(
                "different letter case", at(PATH, docx("Offer", "dear Ann,", "yes.")), **_WHOLE
            ),
            near_miss(
                "only in a table",
                at(
                    PATH,
                    odt(
                        "<table:table><table:table-row><table:table-cell>"
                        + LETTER
                        + "</table:table-cell></table:table-row></table:table>"
                    ),
                ),
                **_WHOLE,
            ),
            near_miss(
                "tracked deletion",
                at(
                    PATH,
                    odt(
                        "<text:tracked-changes><text:changed-region><text:deletion>"
                        + LETTER
                        + "</text:deletion></text:changed-region></text:tracked-changes>"
                    ),
                ),
                **_WHOLE,
            ),
            hostile(
                "spreadsheet with the text",
                at(PATH, lambda: file_builders.odf("spreadsheet", LETTER)),
                **_WHOLE,
            ),
            *document_cases(_letter, BARE, _WHOLE, bomb=True),
            *hidden_cases(_letter, _WHOLE),
            *paragraph_cases("Dear Ann,", _ANN),
        ),
    ),
    CaseTable(
        text.document_has_paragraph,
        MachineFixture,
        (
            positive("docx", at(PATH, _letter["docx"]), **_ANN),
            positive("odt", at(PATH, _letter["odt"]), **_ANN),
            positive(
                "surrounding spaces",
                at(PATH, docx("  Dear Ann,  ")),
                path=PATH,
                text=" Dear Ann,\n",
            ),
            negative("different text", at(PATH, docx("No.")), **_ANN),
            near_miss("part of a paragraph", at(PATH, docx("Dear Ann, yes.")), **_ANN),
            near_miss("split over two paragraphs", at(PATH, docx("Dear", "Ann,")), **_ANN),
            near_miss("in a table", at(PATH, docx(table(("Dear Ann,",)))), **_ANN),
            near_miss("different letter case", at(PATH, docx("Dear ann,")), **_ANN),
            near_miss(
                "in a footnote",
                at(
                    PATH,
                    odt(
                        "<text:p>x<text:note><text:note-body><text:p>Dear Ann,</text:p></text:note-body></text:note></text:p>"
                    ),
                ),
                **_ANN,
            ),
            *document_cases(_letter, BARE, _ANN),
            *hidden_cases(_letter, _ANN),
            *paragraph_cases("Dear Ann,", _ANN),
            *shown_run_cases("Dear Ann,", _ANN),
            *look_cases("Dear Ann,", _ANN),
            *body_cases("Dear Ann,", _ANN),
            *page_cases("Dear Ann,", _ANN),
            *part_cases("Dear Ann,", _ANN),
            *nested_style_cases("Dear Ann,", _ANN),
            *ground_cases("Dear Ann,", _ANN),
            *blank_cases("Dear Ann,", _ANN),
            *default_share_cases("Dear Ann,", _ANN),
        ),
    ),
    CaseTable(
        text.document_has_heading,
        MachineFixture,
        (
            positive("docx", at(PATH, _heading["docx"]), **_HEAD),
            hostile(
                "invalid level", at(PATH, _heading["docx"]), **{**_HEAD, "level": 10}
            ).expect_error(),
            positive("odt", at(PATH, _heading["odt"]), **_HEAD),
            positive(
                "docx, level 3",
                at(PATH, docx(lambda d: d.add_heading("Aims", 3))),
                path=PATH,
                text="Aims",
                level=3,
            ),
            negative("no heading", at(PATH, docx("No.")), **_HEAD),
            near_miss("paragraph instead of a heading", at(PATH, docx("Offer")), **_HEAD),
            near_miss(
                "different level", at(PATH, docx(lambda d: d.add_heading("Offer", 2))), **_HEAD
            ),
            near_miss(
                "different heading",
                at(PATH, docx(lambda d: d.add_heading("Offers", 1), "Offer")),
                **_HEAD,
            ),
            near_miss(
                "bold paragraph instead of a heading",
                at(PATH, docx(styled("", "Offer", "", bold=True))),
                **_HEAD,
            ),
            near_miss(
                "odt, different level",
                at(PATH, odt("<text:h text:outline-level='2'>Offer</text:h>")),
                **_HEAD,
            ),
            *document_cases(_heading, BARE, _HEAD),
            *hidden_cases(_heading, _HEAD),
            *heading_cases("Offer", _HEAD),
            *heading_level_cases("Offer", _HEAD),
        ),
    ),
    CaseTable(
        text.document_text_styled,
        MachineFixture,
        (
            positive("docx", at(PATH, _bold["docx"]), **_BOLD),
            positive("odt", at(PATH, _bold["odt"]), **_BOLD),
            positive("italic", at(PATH, _styled_docx(italic=True)), **{**_BOLD, "look": "italic"}),
            positive(
                "underlined",
                at(PATH, _styled_docx(underline=True)),
                **{**_BOLD, "look": "underline"},
            ),
            positive(
                "whole paragraph",
                at(PATH, docx("It is", styled("", "now", "", bold=True))),
                **_BOLD,
            ),
            positive(
                "at the start of a paragraph",
                at(PATH, docx(styled("", "now", " or never", bold=True))),
                **_BOLD,
            ),
            *(
                near_miss(
                    f"additional bold word {where} it",
                    at(PATH, odt(f"<text:p>{body}</text:p>")),
                    **_BOLD,
                )
                for where, body in (
                    ("before", f"a {_marked('b', '+')} {_marked('now', '+')}"),
                    ("after", f"a {_marked('now', '+')} {_marked('b', '+')}"),
                )
            ),
            positive(
                "split over two runs",
                at(
                    PATH,
                    odt(
                        "<text:p>a <text:span text:style-name='B'>n</text:span><text:span text:style-name='B'>ow</text:span></text:p>"
                    ),
                ),
                **_BOLD,
            ),
            negative("no formatting", at(PATH, docx("It is now or never")), **_BOLD),
            near_miss(
                "only half of the text",
                at(PATH, docx(styled("It is n", "ow", "", bold=True))),
                **_BOLD,
            ),
            near_miss(
                "all but the last letter",
                at(PATH, docx(styled("It is ", "no", "w or never", bold=True))),
                **_BOLD,
            ),
            near_miss(
                "previous word is also bold",
                at(PATH, docx(styled("It ", "is now", " or", bold=True))),
                **_BOLD,
            ),
            near_miss(
                "next word is also bold",
                at(PATH, docx(styled("It is ", "now or", " x", bold=True))),
                **_BOLD,
            ),
            near_miss(
                "whole paragraph bold",
                at(PATH, docx(styled("", "It is now or never", "", bold=True))),
                **_BOLD,
            ),
            near_miss("different formatting", at(PATH, _styled_docx(italic=True)), **_BOLD),
            near_miss(
                "different word",
                at(PATH, docx(styled("It is now or ", "never", "", bold=True))),
                **_BOLD,
            ),
            near_miss(
                "second unformatted occurrence",
                at(PATH, docx("now", styled("It is ", "now", "", bold=True))),
                **_BOLD,
            ),
            near_miss(
                "second unformatted occurrence in the paragraph",
                at(PATH, docx(styled("now ", "now", "", bold=True))),
                **_BOLD,
            ),
            another_way(
                "with the style of a link",
                at(PATH, odt("<text:p>a <text:a text:style-name='B'>now</text:a></text:p>")),
                **_BOLD,
            ),
            near_miss(
                "formatting reset by a nested style",
                at(
                    PATH,
                    odt(
                        "<text:p>a <text:span text:style-name='B'><text:span text:style-name='N'>now</text:span></text:span></text:p>"
                    ),
                ),
                **_BOLD,
            ),
            near_miss("empty expected text", at(PATH, _bold["docx"]), **{**_BOLD, "text": ""}),
            *document_cases(_bold, BARE, _BOLD),
            *hidden_cases(_bold, _BOLD),
            *inkless_neighbour_cases(_BOLD),
            *passage_cases(_BOLD, "<w:b/>", 'fo:font-weight="bold"'),
            *look_value_cases(_BOLD, "fo:font-weight", _WEIGHTS),
            *look_value_cases({**_BOLD, "look": "italic"}, "fo:font-style", _SLANTS),
            *look_value_cases(
                {**_BOLD, "look": "underline"}, "style:text-underline-style", _UNDERLINES
            ),
            *underline_cases({**_BOLD, "look": "underline"}),
        ),
    ),
    CaseTable(
        text.document_text_coloured,
        MachineFixture,
        (
            positive("docx", at(PATH, _colour["docx"]), **_RED),
            positive("odt", at(PATH, _colour["odt"]), **{**_RED, "colour": "#ff0000"}),
            positive("two occurrences", at(PATH, odt(_SPAN + _SPAN)), **_RED),
            positive(
                "two adjacent occurrences",
                at(PATH, odt("<text:p><text:span text:style-name='B'>nownow</text:span></text:p>")),
                **_RED,
            ),
            negative("no colour", at(PATH, docx("It is now")), **_RED),
            near_miss(
                "one of two occurrences", at(PATH, odt(_SPAN + "<text:p>now</text:p>")), **_RED
            ),
            *(
                near_miss(
                    f"all but the {name} in a paragraph",
                    at(
                        PATH,
                        odt(
                            "<text:p>"
                            + " ".join(_marked("now", sign) for sign in signs)
                            + "</text:p>"
                        ),
                    ),
                    **_RED,
                )
                for name, signs in (("first", "-++"), ("second", "+-+"), ("third", "++-"))
            ),
            near_miss(
                "first of two letters",
                at(PATH, odt("<text:p>" + _marked("n", "+") + "n</text:p>")),
                **{**_RED, "text": "n"},
            ),
            near_miss(
                "one of two occurrences in a paragraph",
                at(
                    PATH, odt("<text:p><text:span text:style-name='B'>now</text:span> now</text:p>")
                ),
                **_RED,
            ),
            near_miss(
                "only half of the text",
                at(PATH, odt("<text:p>n<text:span text:style-name='B'>ow</text:span></text:p>")),
                **_RED,
            ),
            near_miss(
                "different colour", at(PATH, _colour["docx"]), **{**_RED, "colour": "ff0001"}
            ),
            near_miss("empty expected text", at(PATH, _colour["docx"]), **{**_RED, "text": ""}),
            near_miss("different word", at(PATH, _colour["docx"]), **{**_RED, "text": "never"}),
            *document_cases(_colour, BARE, _RED),
            *hidden_cases(_colour, _RED),
            *own_colour_cases(_RED),
            *passage_cases(_RED, '<w:color w:val="FF0000"/>', 'fo:color="#FF0000"'),
        ),
        equivalent={
            "*args.text: cut": "a part of a coloured passage has the same colour",
            "*args.colour: swap case": "the letter case of a colour is ignored",
        },
    ),
    CaseTable(
        text.document_text_size,
        MachineFixture,
        (
            positive("docx", at(PATH, _size["docx"]), **_LARGE),
            positive("odt", at(PATH, _size["odt"]), **{**_LARGE, "size_pt": 18.04}),
            positive(
                "slightly larger than expected",
                at(PATH, docx(styled("It is ", "now", "", size=_points(18.04)))),
                **_LARGE,
            ),
            negative("default size", at(PATH, odt("<text:p>now</text:p>")), **_LARGE),
            near_miss("different size", at(PATH, _size["docx"]), **{**_LARGE, "size_pt": 18.1}),
            near_miss(
                "only half of the text",
                at(PATH, odt("<text:p>n<text:span text:style-name='B'>ow</text:span></text:p>")),
                **_LARGE,
            ),
            near_miss(
                "one of two occurrences", at(PATH, odt(_SPAN + "<text:p>now</text:p>")), **_LARGE
            ),
            near_miss("empty expected text", at(PATH, _size["docx"]), **{**_LARGE, "text": ""}),
            *document_cases(_size, BARE, _LARGE),
            *hidden_cases(_size, _LARGE),
            *passage_cases(_LARGE, '<w:sz w:val="36"/>', 'fo:font-size="18pt"'),
            *share_cases(_LARGE),
            *default_size_cases(_LARGE),
        ),
        equivalent={"*args.text: cut": "a part of a passage has the same size"},
    ),
    CaseTable(
        text.document_paragraph_aligned,
        MachineFixture,
        (
            positive("docx", at(PATH, _middle["docx"]), **_MIDDLE),
            positive("odt", at(PATH, _middle["odt"]), **_MIDDLE),
            positive(
                "left by default", at(PATH, docx("Title")), **{**_MIDDLE, "alignment": "left"}
            ),
            positive(
                "right", at(PATH, docx(aligned("Title", 2))), **{**_MIDDLE, "alignment": "right"}
            ),
            negative("left instead of centre", at(PATH, docx("Title")), **_MIDDLE),
            near_miss("right instead of centre", at(PATH, docx(aligned("Title", 2))), **_MIDDLE),
            near_miss("different paragraph", at(PATH, docx("Title", aligned("x", 1))), **_MIDDLE),
            near_miss(
                "one of two paragraphs", at(PATH, docx("Title", aligned("Title", 1))), **_MIDDLE
            ),
            *document_cases(_middle, BARE, _MIDDLE),
            *hidden_cases(_middle, _MIDDLE),
            *alignment_cases("Title", _MIDDLE),
            *align_cases("Title", _MIDDLE),
        ),
    ),
    CaseTable(
        text.document_table_equals,
        MachineFixture,
        (
            positive("docx", at(PATH, _cells["docx"]), **_CELLS),
            positive("odt", at(PATH, _cells["odt"]), **_CELLS),
            positive(
                "second table",
                at(PATH, docx(table(("x",)), table(("y ",)))),
                path=PATH,
                rows=[[" y"]],
                table=2,
            ),
            negative("no table", at(PATH, docx("Name", "Age")), **_CELLS),
            near_miss(
                "different cell", at(PATH, docx(table(("Name", "Age"), ("Ann", "32")))), **_CELLS
            ),
            near_miss(
                "additional row",
                at(PATH, docx(table(("Name", "Age"), ("Ann", "31"), ("", "")))),
                **_CELLS,
            ),
            near_miss(
                "rows and columns swapped",
                at(PATH, docx(table(("Name", "Ann"), ("Age", "31")))),
                **_CELLS,
            ),
            near_miss(
                "in the second table",
                at(PATH, docx(table(("x",)), table(("Name", "Age"), ("Ann", "31")))),
                **_CELLS,
            ),
            near_miss("missing second table", at(PATH, _cells["docx"]), **_CELLS, table=2),
            *document_cases(_cells, BARE, _CELLS),
            *hidden_cases(_cells, _CELLS),
            *table_cases(_CELLS),
            *wrapped_cell_cases(_CELLS),
            *styled_table_cases({"path": PATH}),
            *cell_cases(_CELLS),
            *table_ground_cases(_CELLS),
            *repeated_cases({"path": PATH}),
            *odf_page_ways.merged_cases({"path": PATH}),
            *docx_ways.merged_cases({"path": PATH}),
        ),
    ),
    CaseTable(
        text.document_picture_count,
        MachineFixture,
        (
            positive("docx", at(PATH, _pictures["docx"]), **_TWO),
            positive("odt", at(PATH, _pictures["odt"]), **_TWO),
            positive("one picture", at(PATH, docx(picture(1))), **{**_TWO, "count": 1}),
            negative("no picture", at(PATH, docx("x")), **_TWO),
            near_miss("one of two pictures", at(PATH, docx(picture(1))), **_TWO),
            near_miss("three pictures", at(PATH, docx(picture(1), picture(2), picture(3))), **_TWO),
            near_miss(
                "links to pictures outside the file",
                at(
                    PATH,
                    odt(
                        "<text:p><draw:frame><draw:image xlink:href='../a.png'/></draw:frame></text:p>"
                        * 2
                    ),
                ),
                **_TWO,
            ),
            *document_cases(_pictures, BARE, _TWO),
            *picture_count_cases(_TWO),
            *shown_docx_picture_cases(_TWO),
            *shown_picture_cases(_TWO),
            *displayed_picture_cases(_TWO),
        ),
    ),
)
