"""Cases of the evaluators of text documents' content."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

from evaluators.documents import text
from evaluators.testing.case import (
    CaseTable,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    near_miss,
    negative,
    positive,
)
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases import file_builders
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.forged_documents import forgeries
from tests.evaluator_cases.text_files import (
    MM,
    PATH,
    POINT,
    Block,
    docx,
    file_cases,
    forged_cases,
    from_right,
    heading,
    odt,
    odt_with,
    paragraph,
    saved_cases,
    table,
    unseen,
    with_control,
    with_gap,
    with_settings,
)

_TRACKED = 'w:id="7" w:author="Ann" w:date="2026-11-21T10:00:00Z"'


def _edited(kind: str, content: str) -> Block:
    """Return a block that is a paragraph with a tracked insertion (ins) or deletion (del)."""

    def add(document: Any) -> Any:
        from docx.oxml import parse_xml
        from docx.oxml.ns import nsdecls

        name = "w:delText" if kind == "del" else "w:t"
        run = f"<w:r><{name}>{content}</{name}></w:r>"
        added = document.add_paragraph()
        added._p.append(parse_xml(f"<w:{kind} {nsdecls('w')} {_TRACKED}>{run}</w:{kind}>"))
        return added

    return add


def _picture(seed: int, width: int = 400_000, alpha: int = 255) -> Block:
    def add(document: Any) -> None:
        from PIL import Image

        picture = Image.fromarray(file_builders.noise(seed, (32, 24)))
        picture.putalpha(alpha)
        out = io.BytesIO()
        picture.save(out, "PNG")
        document.add_picture(out, width=width)

    return add


def _merged(document: Any) -> None:
    grid = document.add_table(2, 3)
    grid.cell(0, 0).merge(grid.cell(0, 1)).paragraphs[0].text = "a"
    grid.cell(0, 2).merge(grid.cell(1, 2)).paragraphs[0].text = "b"
    grid.cell(1, 0).text, grid.cell(1, 1).text = "c", "d"


def _bill(**font: Any) -> Block:
    return paragraph("The total of this order is 4", ("1", font), ".50 euros in all.")


def _numbered(content: str) -> Block:
    return lambda document: document.add_paragraph(content, style="List Number")


def _labelled(content: str) -> str:
    """Return the XML of a list of one text, with the label of `_NINE`."""
    item = f"<text:list-item><text:p>{content}</text:p></text:list-item>"
    return f'<text:list text:style-name="L">{item}</text:list>'


def _framed(content: str) -> str:
    """Return the XML of a text in a frame that lies far off the page."""
    return (
        '<text:p><draw:frame text:anchor-type="page" text:anchor-page-number="1" svg:x="90cm" '
        f'svg:y="1cm" svg:width="5cm" svg:height="2cm"><draw:text-box><text:p>{content}</text:p>'
        "</draw:text-box></draw:frame></text:p>"
    )


_NINE = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" '
    'text:start-value="9"><style:list-level-properties text:min-label-width="0cm"/>'
    "</text:list-level-style-number></text:list-style>"
)
_unpaid = paragraph("It is ", ("not ", {"rgb": "FFFFFF"}), "paid.")
_letter = docx(heading("Offer", 1), "Dear Ann,", "", "yes.")
_ANN: dict[str, Any] = {"path": PATH, "text": "Dear Ann,"}
_BILL: dict[str, Any] = {"path": PATH, "text": "The total of this order is 41.50 euros in all."}
_COST: dict[str, Any] = {"path": PATH, "text": "41.50"}
_WHOLE: dict[str, Any] = {"path": PATH, "text": "Offer\nDear Ann,\nyes."}
_SAVED_TEXT = (
    "Offer\nDear Ann,\nHere are bold, slanted, lined, struck, H2O, x3, red, large, marked and mono "
    "words.\nTitle\nWide lines\nAiry words\nIndented words\nTea\t2.50\nTinted words\nMilk\nAnnex"
)
_HEAD: dict[str, Any] = {"path": PATH, "text": "Offer", "level": 1}
_BOLD: dict[str, Any] = {"path": PATH, "text": "now", "look": "bold"}
_AGREE = "Both parties of this contract do", "agree"
_AGREED: dict[str, Any] = {"path": PATH, "text": (" " * 8).join(_AGREE)}
_DEAR = "<text:p>Dear Ann,</text:p>"
_PEACE, _WORLD = "\u05e9\u05dc\u05d5\u05dd ", "\u05e2\u05d5\u05dc\u05dd"
_HEBREW: dict[str, Any] = {"path": PATH, "text": _WORLD, "look": "bold"}
_SLIGHTLY = (
    '<style:style style:name="S" style:family="text">'
    '<style:text-properties style:text-position="1% 100%"/></style:style>'
)
_PNG = file_builders.encoded(file_builders.noise(1, (32, 24)), "PNG")
_FLAT = (
    '<style:style style:name="F" style:family="graphic">'
    '<style:graphic-properties style:wrap="none"/></style:style>'
)
_UNSTYLED = (
    '<text:p>A <draw:frame draw:style-name="F" text:anchor-type="as-char" svg:width="3cm" '
    'svg:height="2cm"><draw:image xlink:href="a.png" xlink:type="simple"/></draw:frame></text:p>'
)
_RAISED = '<text:p>It is <text:span text:style-name="S">now</text:span> or never</text:p>'
_RED: dict[str, Any] = {"path": PATH, "text": "now", "colour": "FF0000"}
_LARGE: dict[str, Any] = {"path": PATH, "text": "now", "size_pt": 18}
_MIDDLE: dict[str, Any] = {"path": PATH, "text": "Title", "alignment": "center"}
_CELLS: dict[str, Any] = {"path": PATH, "rows": [["Name", "Age"], ["Ann", "31"]]}
_TWO: dict[str, Any] = {"path": PATH, "count": 2}
_LOOKS = {
    "italic": {"italic": True},
    "underline": {"underline": True},
    "strikethrough": {"strike": True},
    "superscript": {"superscript": True},
    "subscript": {"subscript": True},
}
_SAVED_LOOKS = {
    "bold": "bold",
    "italic": "slanted",
    "underline": "lined",
    "strikethrough": "struck",
}


def _now(**font: Any) -> Block:
    return paragraph("It is ", ("now", font), " or never")


def _underlined(color: str) -> Block:
    def add(document: Any) -> None:
        from docx.oxml.ns import qn

        run = _now(underline=True)(document).runs[1]
        run._element.rPr.find(qn("w:u")).set(qn("w:color"), color)

    return add


def _hebrew(name: str) -> Block:
    """Return a block of two Hebrew words, the second of them with a property of its run."""

    def add(document: Any) -> None:
        from docx.oxml import OxmlElement

        run = paragraph(_PEACE, _WORLD)(document).runs[1]
        run._element.get_or_add_rPr().append(OxmlElement(f"w:{name}"))

    return add


def _around(before: dict[str, Any], after: dict[str, Any]) -> Block:
    return paragraph("It ", ("is ", before), ("now", {"bold": True}), (" or", after), " never")


_bold, _red, _large = docx(_now(bold=True)), docx(_now(rgb="FF0000")), docx(_now(size=18 * POINT))
_title = paragraph("Title", alignment=1)
_cells = docx(table(("Name", "Age"), ("Ann", "31")))

TABLES = (
    CaseTable(
        text.document_text_equals,
        MachineFixture,
        (
            positive("docx", at(PATH, _letter), **_WHOLE),
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
            near_miss("different order", at(PATH, docx("Dear Ann,", "Offer", "yes.")), **_WHOLE),
            near_miss("letter case", at(PATH, docx("Offer", "dear Ann,", "yes.")), **_WHOLE),
            near_miss("in a table", at(PATH, docx(table(("Offer\nDear Ann,\nyes.",)))), **_WHOLE),
            hostile(
                "spreadsheet with the text",
                at(PATH, lambda: file_builders.odf("spreadsheet", "<text:p>Offer</text:p>")),
                **_WHOLE,
            ),
            *forged_cases(paragraph("yes."), "yes.", {**_WHOLE, "text": "Words.\nyes."}),
            forged(
                "tracked deletion of a line",
                at(PATH, docx("a", _edited("del", "b"))),
                path=PATH,
                text="a\nb",
            ),
            another_way(
                "tracked insertion of a line",
                at(PATH, docx("a", _edited("ins", "b"))),
                path=PATH,
                text="a\nb",
            ),
            another_way(
                "tracked deletion of another line",
                at(PATH, docx("a", _edited("del", "b"))),
                path=PATH,
                text="a",
            ),
            *saved_cases({"path": PATH, "text": _SAVED_TEXT}),
            *file_cases(_letter, _WHOLE),
            corrupt(
                "truncated XML",
                at(PATH, lambda: file_builders.broken(_letter(), "word/document.xml")),
                **_WHOLE,
            ),
            empty("no content", at(PATH, docx()), **_WHOLE),
        ),
    ),
    CaseTable(
        text.document_has_paragraph,
        MachineFixture,
        (
            *forgeries("document_has_paragraph"),
            positive("docx", at(PATH, _letter), **_ANN),
            positive(
                "outer spaces", at(PATH, docx("  Dear Ann,  ")), path=PATH, text=" Dear Ann,\n"
            ),
            positive(
                "seen beside a hidden one",
                at(PATH, docx(unseen(paragraph("Dear Ann,"), "white"), "Dear Ann,")),
                **_ANN,
            ),
            positive(
                "longer than a page is wide",
                at(PATH, docx("Words, words, " * 150 + "end")),
                path=PATH,
                text="Words, words, " * 150 + "end",
            ),
            negative("different text", at(PATH, docx("No.")), **_ANN),
            near_miss("part of a paragraph", at(PATH, docx("Dear Ann, yes.")), **_ANN),
            near_miss("split over two paragraphs", at(PATH, docx("Dear", "Ann,")), **_ANN),
            near_miss("in a table", at(PATH, docx(table(("Dear Ann,",)))), **_ANN),
            near_miss("letter case", at(PATH, docx("Dear ann,")), **_ANN),
            near_miss("empty expected text", at(PATH, docx("")), **{**_ANN, "text": ""}),
            *forged_cases(
                paragraph("Dear Ann,"), "Dear Ann,", _ANN, "white", "tiny", "hidden", "away"
            ),
            *(
                forged(name, at(PATH, odt_with("Dear Ann,", characters, look)), **_ANN)
                for name, characters, look in (
                    ("transparent", 'loext:opacity="0%"', ""),
                    ("letters of 1 % of their width", 'style:text-scale="1%"', ""),
                    (
                        "in the colour of its background",
                        'fo:color="#112233"',
                        'fo:background-color="#112233"',
                    ),
                    ("first line off the page", "", 'fo:text-indent="-40cm"'),
                    ("hardly darker than the page", 'fo:color="#f4f4f4"', ""),
                )
            ),
            forged("in a frame off the page", at(PATH, odt(_framed("Dear Ann,"))), **_ANN),
            forged("one digit is white", at(PATH, docx(_bill(rgb="FFFFFF"))), **_BILL),
            forged("one digit is tiny", at(PATH, docx(_bill(size=POINT))), **_BILL),
            forged("one digit is a dingbat", at(PATH, docx(_bill(name="D050000L"))), **_BILL),
            forged("one word is white", at(PATH, docx(_unpaid)), path=PATH, text="It is not paid."),
            forged(
                "behind another digit", at(PATH, odt(_labelled("41.50"), automatic=_NINE)), **_COST
            ),
            forged(
                "behind a button that is not printed", at(PATH, with_control("Dear Ann,")), **_ANN
            ),
            *(
                kind(f"with {word!r} in a gap", at(PATH, with_gap(*_AGREE, word)), **_AGREED)
                for kind, word in ((forged, "not"), (forged, "no"), (another_way, ""))
            ),
            forged(
                "black on a black page that is not printed",
                at(PATH, with_settings(_DEAR, "configuration", "PrintPageBackground", "false")),
                **_ANN,
            ),
            another_way("behind its number", at(PATH, docx(_numbered("41.50"))), **_COST),
            forged(
                "in a hidden section",
                at(
                    PATH,
                    odt(
                        '<text:section text:name="s" text:display="none"><text:p>Dear Ann,</text:p></text:section>'
                    ),
                ),
                **_ANN,
            ),
            another_way(
                "all capitals by its style",
                at(PATH, docx(paragraph(("Dear Ann,", {"all_caps": True})))),
                **_ANN,
            ),
            another_way(
                "white on black",
                at(
                    PATH,
                    odt_with("Dear Ann,", 'fo:color="#ffffff"', 'fo:background-color="#000000"'),
                ),
                **_ANN,
            ),
            another_way(
                "partly a link",
                at(
                    PATH,
                    odt('<text:p>Dear <text:a xlink:href="http://a.test/">Ann</text:a>,</text:p>'),
                ),
                **_ANN,
            ),
            *saved_cases(_ANN),
            *file_cases(_letter, _ANN),
        ),
    ),
    CaseTable(
        text.document_has_heading,
        MachineFixture,
        (
            positive("docx", at(PATH, _letter), **_HEAD),
            positive(
                "level 3", at(PATH, docx(heading("Aims", 3))), path=PATH, text="Aims", level=3
            ),
            negative("no heading", at(PATH, docx("No.")), **_HEAD),
            near_miss("paragraph", at(PATH, docx("Offer")), **_HEAD),
            near_miss("different level", at(PATH, docx(heading("Offer", 2))), **_HEAD),
            near_miss("different heading", at(PATH, docx(heading("Offers", 1), "Offer")), **_HEAD),
            near_miss(
                "bold paragraph", at(PATH, docx(paragraph(("Offer", {"bold": True})))), **_HEAD
            ),
            *forged_cases(heading("Offer", 1), "Offer", _HEAD),
            forged(
                "white heading, and the text as a paragraph",
                at(PATH, docx(unseen(heading("Offer", 1), "white"), "Offer")),
                **_HEAD,
            ),
            *saved_cases(_HEAD),
            *file_cases(_letter, _HEAD),
            hostile("invalid level", at(PATH, _letter), **{**_HEAD, "level": 10}).expect_error(),
        ),
    ),
    CaseTable(
        text.document_text_styled,
        MachineFixture,
        (
            *forgeries("document_text_styled"),
            positive("docx", at(PATH, _bold), **_BOLD),
            *(
                positive(look, at(PATH, docx(_now(**font))), **{**_BOLD, "look": look})
                for look, font in _LOOKS.items()
            ),
            positive(
                "in a table", at(PATH, docx("It is", table(("now",), font={"bold": True}))), **_BOLD
            ),
            positive(
                "in two runs",
                at(PATH, docx(paragraph("It is ", ("n", {"bold": True}), ("ow", {"bold": True})))),
                **_BOLD,
            ),
            negative("no formatting", at(PATH, docx("It is now or never")), **_BOLD),
            near_miss("different style", at(PATH, docx(_now(italic=True))), **_BOLD),
            near_miss(
                "all but the last letter",
                at(PATH, docx(paragraph("It is ", ("no", {"bold": True}), "w"))),
                **_BOLD,
            ),
            near_miss("word before it", at(PATH, docx(_around({"bold": True}, {}))), **_BOLD),
            near_miss("word behind it", at(PATH, docx(_around({}, {"bold": True}))), **_BOLD),
            near_miss("occurs twice", at(PATH, docx("now", _now(bold=True))), **_BOLD),
            near_miss("empty expected text", at(PATH, _bold), **{**_BOLD, "text": ""}),
            *forged_cases(_now(bold=True), "now", _BOLD, "white", "away"),
            forged(
                "underlined in white",
                at(PATH, docx(_underlined("FFFFFF"))),
                **{**_BOLD, "look": "underline"},
            ),
            another_way(
                "underlined in red",
                at(PATH, docx(_underlined("FF0000"))),
                **{**_BOLD, "look": "underline"},
            ),
            forged(
                "raised by a hundredth",
                at(PATH, odt(_RAISED, automatic=_SLIGHTLY)),
                **{**_BOLD, "look": "superscript"},
            ),
            forged("bold only for Latin letters", at(PATH, docx(_hebrew("b"))), **_HEBREW),
            another_way("bold for Hebrew letters", at(PATH, docx(_hebrew("bCs"))), **_HEBREW),
            *(
                replace(case, name=f"{look}, {case.name}")
                for look, word in _SAVED_LOOKS.items()
                for case in saved_cases({"path": PATH, "text": word, "look": look})
                if look == "bold" or case.name.endswith(".odt")
            ),
            *file_cases(_bold, _BOLD),
        ),
    ),
    CaseTable(
        text.document_text_coloured,
        MachineFixture,
        (
            positive("docx", at(PATH, _red), **_RED),
            positive(
                "two occurrences", at(PATH, docx(_now(rgb="FF0000"), _now(rgb="FF0000"))), **_RED
            ),
            positive("automatic", at(PATH, docx("now")), **{**_RED, "colour": "000000"}),
            negative("no colour", at(PATH, docx("It is now")), **_RED),
            near_miss("one of two occurrences", at(PATH, docx(_now(rgb="FF0000"), "now")), **_RED),
            near_miss(
                "one of two occurrences in a paragraph",
                at(PATH, docx(paragraph(("now", {"rgb": "FF0000"}), " and now"))),
                **_RED,
            ),
            near_miss(
                "only half of the text",
                at(PATH, docx(paragraph("n", ("ow", {"rgb": "FF0000"})))),
                **_RED,
            ),
            near_miss("different colour", at(PATH, _red), **{**_RED, "colour": "ff0001"}),
            near_miss("empty expected text", at(PATH, _red), **{**_RED, "text": ""}),
            *forged_cases(_now(rgb="FF0000"), "now", _RED),
            forged(
                "nearly transparent red",
                at(PATH, odt_with("now", 'fo:color="#ff0000" loext:opacity="30%"')),
                **_RED,
            ),
            *saved_cases({"path": PATH, "text": "red", "colour": "#ff0000"}),
            *file_cases(_red, _RED),
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
            positive("docx", at(PATH, _large), **_LARGE),
            positive("by precision", at(PATH, _large), **{**_LARGE, "size_pt": 18.04}),
            negative("default size", at(PATH, docx("It is now")), **_LARGE),
            near_miss("different size", at(PATH, _large), **{**_LARGE, "size_pt": 18.1}),
            near_miss(
                "one of two occurrences", at(PATH, docx(_now(size=18 * POINT), "now")), **_LARGE
            ),
            near_miss("empty expected text", at(PATH, _large), **{**_LARGE, "text": ""}),
            *forged_cases(_now(size=18 * POINT), "now", _LARGE),
            *saved_cases({"path": PATH, "text": "large", "size_pt": 18}),
            another_way("by its style", at(PATH, odt_with("now", 'fo:font-size="18pt"')), **_LARGE),
            *file_cases(_large, _LARGE),
        ),
        equivalent={"*args.text: cut": "a part of a passage has the same size"},
    ),
    CaseTable(
        text.document_paragraph_aligned,
        MachineFixture,
        (
            *forgeries("document_paragraph_aligned"),
            positive("docx", at(PATH, docx(_title)), **_MIDDLE),
            positive(
                "left by default", at(PATH, docx("Title")), **{**_MIDDLE, "alignment": "left"}
            ),
            positive(
                "justified",
                at(PATH, docx(paragraph("Title", alignment=3))),
                **{**_MIDDLE, "alignment": "justify"},
            ),
            negative("left instead of centre", at(PATH, docx("Title")), **_MIDDLE),
            near_miss("right", at(PATH, docx(paragraph("Title", alignment=2))), **_MIDDLE),
            near_miss(
                "different paragraph",
                at(PATH, docx("Title", paragraph("x", alignment=1))),
                **_MIDDLE,
            ),
            near_miss("one of two paragraphs", at(PATH, docx("Title", _title)), **_MIDDLE),
            *forged_cases(_title, "Title", _MIDDLE, "white", "hidden"),
            *saved_cases(_MIDDLE),
            *file_cases(docx(_title), _MIDDLE),
        ),
    ),
    CaseTable(
        text.document_table_equals,
        MachineFixture,
        (
            positive("docx", at(PATH, _cells), **_CELLS),
            positive(
                "second table",
                at(PATH, docx(table(("x",)), "between", table(("y ",)))),
                path=PATH,
                rows=[[" y"]],
                table=2,
            ),
            positive(
                "merged cells",
                at(PATH, docx(_merged)),
                path=PATH,
                rows=[["a", "", "b"], ["c", "d", ""]],
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
            forged(
                "displayed from right to left",
                at(PATH, docx(from_right(table(("Name", "Age"), ("Ann", "31"))))),
                **_CELLS,
            ),
            another_way(
                "turned twice",
                at(PATH, docx(from_right(table(("Age", "Name"), ("31", "Ann"))))),
                **_CELLS,
            ),
            near_miss("missing second table", at(PATH, _cells), **_CELLS, table=2),
            *(
                forged(
                    f"{name} cells, and their texts below",
                    at(
                        PATH,
                        docx(table(("Name", "Age"), ("Ann", "31"), font=font), "Name Age Ann 31"),
                    ),
                    **_CELLS,
                )
                for name, font in (("white", {"rgb": "FFFFFF"}), ("hidden", {"hidden": True}))
            ),
            *saved_cases({"path": PATH, "rows": [["Name", "Age"], ["Ann", "31"], ["All", ""]]}),
            *file_cases(_cells, _CELLS),
        ),
    ),
    CaseTable(
        text.document_picture_count,
        MachineFixture,
        (
            positive("docx", at(PATH, docx(_picture(1), _picture(2))), **_TWO),
            positive("one picture", at(PATH, docx(_picture(1))), **{**_TWO, "count": 1}),
            negative("no picture", at(PATH, docx("x")), **_TWO),
            near_miss("one of two pictures", at(PATH, docx(_picture(1))), **_TWO),
            near_miss("three", at(PATH, docx(_picture(1), _picture(2), _picture(3))), **_TWO),
            another_way(
                "in a style that is not derived from Graphics",
                at(PATH, odt(_UNSTYLED, automatic=_FLAT, files={"a.png": _PNG})),
                **{**_TWO, "count": 1},
            ),
            forged("one is tiny", at(PATH, docx(_picture(1), _picture(2, width=MM // 10))), **_TWO),
            forged("one is transparent", at(PATH, docx(_picture(1), _picture(2, alpha=0))), **_TWO),
            *saved_cases(_TWO),
            *file_cases(docx(_picture(1), _picture(2)), _TWO),
        ),
    ),
)
