"""Word documents as other programs write them, and invisible content in them."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged, hostile, near_miss
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import changed, docx, encoded, noise, unzipped
from tests.evaluator_cases.text_ways import body, document_of_style, paragraph, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evaluators.testing.case import Case
    from provisioning.protocols import Json
    from tests.evaluator_cases.document_cases import Make

_PART = "word/document.xml"
_WORD_2010 = "http://schemas.microsoft.com/office/word/2010"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_GROUP = f"{_WORD_2010}/wordprocessingGroup"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_VML = "urn:schemas-microsoft-com:vml"
_OFFICE_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_BEGIN, _SEPARATE, _END = (
    f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
)
_CODE = "<w:r><w:instrText>TITLE</w:instrText></w:r>"


def _instruction(*pieces: str) -> str:
    return "".join(f"<w:r><w:instrText>{piece}</w:instrText></w:r>" for piece in pieces)


_SILENT = ("ASK", "PRIVATE", "RD", "SET", "TA", "TC", "XE")
_EXTENSIONS = (
    "wordml",
    "wordprocessingShape",
    "wordprocessingGroup",
    "wordprocessingCanvas",
    "wordprocessingDrawing",
)
_DEEP = 60
_TOO_DEEP = 200


def _choice(name: str, content: str, *, needs: str = "k") -> str:
    return (
        f'<mc:Choice xmlns:k="{_WORD_2010}/{name}" xmlns:u="urn:other" Requires="{needs}">'
        f"{content}</mc:Choice>"
    )


def _alternatives(*choices: str, fallback: str = "") -> str:
    last = f"<mc:Fallback>{fallback}</mc:Fallback>" if fallback else ""
    return f'<mc:AlternateContent xmlns:mc="{_MC}">{"".join(choices)}{last}</mc:AlternateContent>'


def _ruby(text: str) -> str:
    return (
        "<w:ruby><w:rubyPr/><w:rt><w:r><w:t>x</w:t></w:r></w:rt>"
        f"<w:rubyBase>{run(text)}</w:rubyBase></w:ruby>"
    )


def shown_run_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of one paragraph whose runs are in alternatives, fields and other wrappers.

    Args:
        text: the paragraph.
        args: arguments of an evaluator that is met by only this paragraph.
    """
    path = str(args["path"])
    first, rest = text[:4], text[4:]
    text_only = f"<w:t>{text}</w:t>"
    ways = {
        "from right to left": f'<w:dir w:val="rtl">{run(text)}</w:dir>',
        "bidirectional override": f'<w:bdo w:val="ltr">{run(text)}</w:bdo>',
        **{
            f"an alternative of {name}": _alternatives(
                _choice(name, run(text)), fallback=run("x")
            )
            for name in _EXTENSIONS
        },
        "fallback": _alternatives(_choice("other", run("x")), fallback=run(text)),
        "second alternative": _alternatives(
            _choice("wordml", run("x"), needs="u"), _choice("wordml", run(text))
        ),
        "first of two alternatives": _alternatives(
            _choice("wordml", run(text)), _choice("wordml", run("x"))
        ),
        "nested alternative": _alternatives(
            _choice("other", "", needs="u"),
            fallback=_alternatives(_choice("wordml", run(text)), fallback=run("x")),
        ),
        "alternative within a run": f"<w:r>{_alternatives(_choice('wordml', text_only))}</w:r>",
        "result of a field": _BEGIN + _CODE + run("x") + _SEPARATE + run(text) + _END,
        "before a field without a result": run(text) + _BEGIN + _CODE + run("x") + _END,
        "after a field": _BEGIN + _CODE + _SEPARATE + run(first) + _END + run(rest),
        "result of a field whose code contains a field": _BEGIN + _BEGIN + _CODE + _SEPARATE + run("x")
        + _END + _CODE + _SEPARATE + run(text) + _END,
        "field within the result of a field": _BEGIN + _CODE + _SEPARATE + run(first)
        + _BEGIN + _CODE + run("x") + _SEPARATE + run(rest) + _END + _END,
        "after a field end without a start": _END + run(text),
        "result of a field without a code": _BEGIN + _SEPARATE + run(text) + _END,
        "result of a REF field to a hidden field": _BEGIN
        + _instruction("REF SET") + _SEPARATE + run(text) + _END,
        "after a field whose result is not displayed": _BEGIN + _instruction("SET x")
        + _SEPARATE + run("x") + _END + run(text),
        "two words with ruby text": f"<w:r>{_ruby(first)}{_ruby(rest)}</w:r>",
    }  # fmt: skip
    shown_not = {
        "code of a field": _BEGIN + run(text) + _SEPARATE + run("x") + _END,
        "code of a field without a separator": _BEGIN + _CODE + run(text) + _END,
        "code of a field in one run": f'<w:r><w:fldChar w:fldCharType="begin"/>{text_only}'
        '<w:fldChar w:fldCharType="end"/></w:r>',
        "field in the code of a field": _BEGIN + _BEGIN + _CODE + _SEPARATE + run(text)
        + _END + _SEPARATE + _END,
        "after a field in the code of a field": _BEGIN + _BEGIN + _CODE + _SEPARATE + run("x")
        + _END + run(text) + _END,
        **{
            f"result of {name}": _BEGIN + _instruction(f" {name} x") + _SEPARATE + run(text) + _END
            for name in _SILENT
        },
        "result of SET, split and in lower case": _BEGIN + _instruction("s", "et x")
        + _SEPARATE + run(text) + _END,
        "field within the result of SET": _BEGIN + _instruction("SET x") + _SEPARATE + _BEGIN
        + _CODE + _SEPARATE + run(text) + _END + _END,
        "result of SET whose code contains a field": _BEGIN + _instruction("SET x ") + _BEGIN + _CODE
        + _SEPARATE + run("x") + _END + _SEPARATE + run(text) + _END,
        "simple field that is not displayed": f'<w:fldSimple w:instr="TC x">{run(text)}</w:fldSimple>',
        "fallback of a supported alternative": _alternatives(
            _choice("wordml", run("x")), fallback=run(text)
        ),
        "unsupported alternative without a fallback": _alternatives(_choice("other", run(text))),
        "alternative with an unsupported requirement": _alternatives(
            _choice("wordml", run(text), needs="k u"), fallback=run("x")
        ),
    }  # fmt: skip
    over_two = paragraph(_BEGIN + _CODE) + paragraph(run(text)) + paragraph(_END)
    deep, too_deep = (
        "<w:sdt><w:sdtContent>" * depth + run(text) + "</w:sdtContent></w:sdt>" * depth
        for depth in (_DEEP, _TOO_DEEP)
    )
    return (
        *(
            another_way(f"docx: {name}", at(path, body(paragraph(xml))), **args)
            for name, xml in ways.items()
        ),
        *(
            forged(f"docx: {name}", at(path, body(paragraph(xml))), **args)
            for name, xml in shown_not.items()
        ),
        forged("docx: code of a field over three paragraphs", at(path, body(over_two)), **args),
        another_way(
            "docx: in many nested content controls", at(path, body(paragraph(deep))), **args
        ),
        hostile(
            "docx: in too many nested content controls", at(path, body(paragraph(too_deep))), **args
        ),
    )


def _cell(text: str, properties: str = "", *, shade: str = "") -> str:
    own = f'<w:tcPr><w:shd w:val="clear" w:fill="{shade}"/></w:tcPr>' if shade else ""
    return f"<w:tc>{own}{paragraph(run(text, properties))}</w:tc>"


def _row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def _table(*rows: str, properties: str = "") -> str:
    columns = "<w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{columns}{''.join(rows)}</w:tbl><w:p/>"


def merged_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of tables with a cell that is merged over two columns, or over two rows.

    Args:
        args: arguments of an evaluator of a table, without its rows.
    """
    path = str(args["path"])

    def cell(text: str, merged: str = "") -> str:
        return f"<w:tc><w:tcPr>{merged}</w:tcPr>{paragraph(run(text))}</w:tc>"

    across = body(_table(_row(cell("Ann", '<w:gridSpan w:val="2"/>')), _row(cell("1"), cell("2"))))
    down = body(
        _table(
            _row(cell("Ann", '<w:vMerge w:val="restart"/>'), cell("1")),
            _row(cell("Lee", "<w:vMerge/>"), cell("2")),
        )
    )
    same = body(_table(_row(cell("Ann"), cell("Ann")), _row(cell("1"), cell("2"))))

    def wanted(*rows: list[str]) -> dict[str, Any]:
        return {**args, "rows": list(rows)}

    last = ["1", "2"]
    return (
        another_way("docx: merged over two columns", at(path, across), **wanted(["Ann", ""], last)),
        another_way(
            "docx: merged over two rows", at(path, down), **wanted(["Ann", "1"], ["", "2"])
        ),
        another_way(
            "docx: two cells with the same text", at(path, same), **wanted(["Ann", "Ann"], last)
        ),
        forged(
            "docx: two cells with the same text, not merged",
            at(path, same),
            **wanted(["Ann", ""], last),
        ),
        forged(
            "docx: text of a covered cell", at(path, down), **wanted(["Ann", "1"], ["Lee", "2"])
        ),
    )


def wrapped_cell_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the table of Ann's age with parts in content controls."""
    path = str(args["path"])
    control = "<w:sdt><w:sdtPr/><w:sdtContent>{}</w:sdtContent></w:sdt>"
    ann, age = _cell("Ann"), _cell("31")
    head = _row(_cell("Name"), _cell("Age"))
    within = f"<w:tc>{control.format(paragraph(run('Ann')))}</w:tc>"
    lasts = {
        "row": control.format(_row(ann, age)),
        "cell": _row(ann, control.format(age)),
        "cell content": _row(within, age),
        **{
            f"a row that is not hidden: {value}": _row(
                ann, age, properties=f'<w:hidden w:val="{value}"/>'
            )
            for value in ("0", "false", "off")
        },
    }
    return tuple(
        another_way(
            f"docx: {name} in a content control", at(path, body(_table(head, last))), **args
        )
        for name, last in lasts.items()
    )


_FLAGS = '<w:tblLook w:val="{}" {}/>'
_DARK = "1F1F1F"
_STYLED = (
    # (kind, name, shaded parts by name, tblLook, white cells by number from the top left)
    (another_way, "dark header", {"firstRow": _DARK}, _FLAGS.format("0020", ""), {0, 1}),
    (another_way, "dark header, with named flag", {"firstRow": _DARK}, _FLAGS.format("0000", 'w:firstRow="1"'), {0, 1}),
    (another_way, "dark header, with named flag only", {"firstRow": _DARK}, '<w:tblLook w:firstRow="1"/>', {0, 1}),
    (forged, "header disabled with named flag", {"firstRow": _DARK}, _FLAGS.format("0720", 'w:firstRow="0"'), {0}),
    (forged, "no table look", {"firstRow": _DARK}, "", {0}),
    (forged, "outside the dark header", {"firstRow": _DARK}, _FLAGS.format("0020", ""), {2}),
    (another_way, "dark last row", {"lastRow": _DARK}, _FLAGS.format("0040", ""), {4, 5}),
    (forged, "above the dark last row", {"lastRow": _DARK}, _FLAGS.format("0040", ""), {2}),
    (another_way, "dark first column", {"firstCol": _DARK}, _FLAGS.format("0080", ""), {0, 2, 4}),
    (forged, "outside the dark first column", {"firstCol": _DARK}, _FLAGS.format("0080", ""), {1}),
    (another_way, "dark last column", {"lastCol": _DARK}, _FLAGS.format("0100", ""), {1, 3, 5}),
    (forged, "outside the dark last column", {"lastCol": _DARK}, _FLAGS.format("0100", ""), {0}),
    (forged, "header disabled", {"firstRow": _DARK}, _FLAGS.format("07C1", ""), {0}),
    (forged, "last row disabled", {"lastRow": _DARK}, _FLAGS.format("07A1", ""), {4}),
    (forged, "first column disabled", {"firstCol": _DARK}, _FLAGS.format("0761", ""), {0}),
    (forged, "last column disabled", {"lastCol": _DARK}, _FLAGS.format("06E1", ""), {1}),
    (another_way, "dark bands", {"band1Horz": _DARK}, _FLAGS.format("0001", ""), {0, 1, 4, 5}),
    (another_way, "dark second band", {"band2Horz": _DARK}, _FLAGS.format("0000", ""), {2, 3}),
    (another_way, "dark band below a header", {"band1Horz": _DARK}, _FLAGS.format("0020", ""), {2, 3}),
    (another_way, "dark band below a header, with named flag", {"band1Horz": _DARK},
     _FLAGS.format("0000", 'w:firstRow="1"'), {2, 3}),
    (forged, "bands disabled", {"band1Horz": _DARK}, _FLAGS.format("0200", ""), {0}),
    (forged, "bands disabled with named flag", {"band1Horz": _DARK}, _FLAGS.format("0000", 'w:noHBand="1"'), {0}),
    (another_way, "whole table", {"": _DARK}, _FLAGS.format("0000", ""), {0, 1, 2, 3}),
    (another_way, "header overrides the whole table", {"": "FFFFFF", "firstRow": _DARK}, _FLAGS.format("0020", ""), {0, 1}),
    (another_way, "first row overrides the first column", {"firstCol": "FFFFFF", "firstRow": _DARK},
     _FLAGS.format("00A0", ""), {0}),
)  # fmt: skip


def _styled_table(shades: Mapping[str, str], look: str, white: set[int], own: str = "") -> Make:
    """Return a function that creates a .docx with a table of Ann's and Lee's ages.

    Args:
        shades: colours of the parts of its style, by name; empty for the whole table.
        look: the ``tblLook`` element, which enables the parts.
        white: cells whose text is white, by number from 0.
        own: direct shading of these cells.
    """
    ink = '<w:color w:val="FFFFFF"/>'
    cells = [
        _cell(text, ink if number in white else "", shade=own if number in white else "")
        for number, text in enumerate(("Name", "Age", "Ann", "31", "Lee", "7"))
    ]
    properties = f'<w:tblStyle w:val="Derived"/>{look}'
    xml = _table(*(_row(*cells[at : at + 2]) for at in (0, 2, 4)), properties=properties)
    shade = '<w:tcPr><w:shd w:val="clear" w:fill="{}"/></w:tcPr>'
    parts = "".join(
        f'<w:tblStylePr w:type="{name}">{shade.format(colour)}</w:tblStylePr>'
        if name
        else shade.format(colour)
        for name, colour in shades.items()
    )
    styles = (
        '<w:style w:type="table" w:styleId="Dark"><w:name w:val="Dark"/>'
        f'{parts}</w:style><w:style w:type="table" w:styleId="Derived"><w:name w:val="Derived"/>'
        '<w:basedOn w:val="Dark"/></w:style></w:styles>'
    )

    @cache
    def make() -> bytes:
        part = "word/styles.xml"
        data = body(xml)()
        text = unzipped(data)[part].decode().replace("</w:styles>", styles)
        return changed(data, {part: text.encode()})

    return make


def styled_table_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of a table of three rows with white text on the shading of its style.

    Args:
        args: arguments of an evaluator of a table, without its rows.
    """
    path = str(args["path"])
    args = {**args, "rows": [["Name", "Age"], ["Ann", "31"], ["Lee", "7"]]}
    header = {"firstRow": _DARK}, _FLAGS.format("0020", ""), {0, 1}
    return (
        *(
            case(
                f"docx: white on the table style: {name}",
                at(path, _styled_table(shades, look, white)),
                **args,
            )
            for case, name, shades, look, white in _STYLED
        ),
        forged(
            "docx: white on directly shaded white cells of a dark header",
            at(path, _styled_table(*header, own="FFFFFF")),
            **args,
        ),
    )


def _with_pictures(change: Any) -> Make:
    """Return a function that creates a .docx with two pictures, and applies a function to the XML of its body."""

    @cache
    def make() -> bytes:
        import io

        def build(document: Any) -> None:
            for number in (1, 2):
                document.add_picture(io.BytesIO(encoded(noise(number, (32, 24)))), width=400_000)

        data = docx(build)
        return changed(data, {_PART: change(unzipped(data)[_PART].decode()).encode()})

    return make


def _replaced(pattern: str, new: str) -> Any:
    def change(xml: str) -> str:
        changed_xml, count = re.subn(pattern, new, xml, count=1, flags=re.DOTALL)
        assert count, pattern
        return changed_xml

    return change


def _as_vml(style: str, *, holder: str = "pict", attribute: str = "r:id") -> Any:
    """Return a function that turns the first picture of a body into VML."""
    drawing = re.compile(r'<w:drawing>.*?r:embed="(\w+)".*?</w:drawing>', re.DOTALL)
    return lambda xml: drawing.sub(
        rf'<w:{holder} xmlns:v="{_VML}" xmlns:r="{_OFFICE_RELATIONS}"><v:shape style="{style}">'
        rf'<v:imagedata {attribute}="\1"/></v:shape></w:{holder}>',
        xml,
        count=1,
    )


def _grouped(inner: int, outer: int = 400_000, *, name: str = "wgp") -> Any:
    """Return a function that puts the first picture into a group.

    Args:
        inner: width and height of the group in its inner coordinates.
        outer: width and height of the group in EMU.
        name: name of the group's element.
    """
    sizes = "".join(
        f'<a:{size} cx="{side}" cy="{side}"/>' for size, side in (("ext", outer), ("chExt", inner))
    )
    group = (
        f'<wpg:{name} xmlns:wpg="{_GROUP}" xmlns:a="{_DRAWING}"><wpg:grpSpPr><a:xfrm>{sizes}</a:xfrm>'
        rf"</wpg:grpSpPr>\1</wpg:{name}>"
    )
    return _replaced("(<pic:pic.*?</pic:pic>)", group)


def shown_docx_picture_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of two pictures in a .docx, of which the first is displayed or not."""
    path = str(args["path"])
    first_run = r"<w:r>(?=<w:drawing)"
    hidden_row = r"\1<w:tbl><w:tblPr/><w:tr><w:trPr>{}</w:trPr><w:tc>\2</w:tc></w:tr></w:tbl>"
    first = r"(<w:body>)(<w:p>.*?</w:p>)"
    changes = (
        (forged, "1 EMU wide", _replaced(r'(<wp:extent cx=")\d+', r"\g<1>1")),
        (forged, "anchored, 1 EMU wide", lambda xml: _replaced(r'(<wp:extent cx=")\d+', r"\g<1>1")(
            xml.replace("wp:inline", "wp:anchor", 2))),
        (another_way, "anchored", lambda xml: xml.replace("wp:inline", "wp:anchor", 2)),
        (forged, "1 EMU high", _replaced(r'(<wp:extent [^>]*cy=")\d+', r"\g<1>1")),
        (forged, "0.24 mm high", _replaced(r'(<wp:extent [^>]*cy=")\d+', r"\g<1>8999")),
        (another_way, "0.25 mm high", _replaced(r'(<wp:extent [^>]*cy=")\d+', r"\g<1>9000")),
        (forged, "marked as hidden", _replaced("<wp:docPr ", '<wp:docPr hidden="1" ')),
        (forged, "marked as hidden with `true`", _replaced("<wp:docPr ", '<wp:docPr hidden="true" ')),
        (another_way, "marked as not hidden", _replaced("<wp:docPr ", '<wp:docPr hidden="0" ')),
        (another_way, "in a run with hidden text disabled",
         _replaced(first_run, '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr>')),
        (forged, "in a hidden run", _replaced(first_run, "<w:r><w:rPr><w:vanish/></w:rPr>")),
        (forged, "in a hidden row", _replaced(first, hidden_row.format("<w:hidden/>"))),
        (forged, "in a row with a tracked deletion", _replaced(first, hidden_row.format("<w:del/>"))),
        (another_way, "in a row", _replaced(first, hidden_row.format(""))),
        (forged, "in the code of a field", _replaced(first_run + r"(.*?</w:r>)", rf"{_BEGIN}<w:r>\1{_END}")),
        (another_way, "in a group", _grouped(400_000)),
        (forged, "scaled to tiny by a group", _grouped(400_000_000)),
        (another_way, "scaled to 0.25 mm height by a group", _grouped(3_000_000, 90_000)),
        (forged, "scaled to tiny by a nested group", _grouped(400_000_000, name="grpSp")),
        (forged, "scaled to 0.24 mm height by a group", _grouped(13_340_000)),
        (another_way, "in VML", _as_vml("width:90pt;height:60pt")),
        (another_way, "in VML, without a size", _as_vml("position:absolute")),
        (forged, "in VML, 0.1 mm wide", _as_vml("width:0.1mm;height:60pt")),
        (forged, "in VML, 0.1 mm high", _as_vml("width:90pt; HEIGHT : 0.1mm".lower())),
        (another_way, "in VML, with a narrow wrap", _as_vml("width:90pt;mso-width:0.1mm")),
        (forged, "in VML, not visible", _as_vml("width:90pt;visibility:hidden")),
        (forged, "in an embedded object", _as_vml("width:90pt", holder="object")),
        (forged, "in VML, not in the file", _as_vml("width:90pt", attribute="r:href")),
    )  # fmt: skip
    both = _alternatives(
        _choice("wordprocessingShape", r"\1"), fallback="<w:pict><w:t>x</w:t></w:pict>"
    )
    twice = _alternatives(_choice("wordprocessingShape", r"\1"), fallback=r"\1")
    return (
        *(
            case(f"docx: first picture: {name}", at(path, _with_pictures(change)), **args)
            for case, name, change in changes
        ),
        another_way(
            "docx: first picture in alternatives",
            at(path, _with_pictures(_replaced("(<w:drawing>.*?</w:drawing>)", both))),
            **args,
        ),
        another_way(
            "docx: first picture with a fallback",
            at(path, _with_pictures(_replaced("(<w:drawing>.*?</w:drawing>)", twice))),
            **args,
        ),
        *_by_hidden_style(args),
    )


def _by_hidden_style(args: Mapping[str, Json]) -> Iterator[Case]:
    """Return cases of two pictures, the first in a paragraph of a style that is hidden or not."""
    path = str(args["path"])
    for case, value in ((forged, "1"), (another_way, "0")):
        styles = document_of_style("x", f'<w:rPr><w:vanish w:val="{value}"/></w:rPr>')
        make = _with_pictures(
            _replaced("<w:p>(?=<w:r><w:drawing)", '<w:p><w:pPr><w:pStyle w:val="Own"/></w:pPr>')
        )

        @cache
        def both(make: Make = make, styles: Make = styles) -> bytes:
            return changed(make(), {"word/styles.xml": unzipped(styles())["word/styles.xml"]})

        yield case(f"docx: first picture in a style with hidden: {value}", at(path, both), **args)


def inkless_neighbour_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the bold passage "now" next to invisible characters.

    Args:
        args: arguments of the evaluator of that passage's formatting.
    """
    path = str(args["path"])
    bold = "<w:b/>"
    marks = "\u200b\u2060\ufeff\u00ad\u034f\u115f\u1160\u2800\u3164\uffa0\u20dd\x86"

    def between(before: str, after: str, around: str) -> Make:
        return body(
            paragraph(
                run("It is ", around) + run(before) + run("now", bold) + run(after)
                + run(" or never", around)
            )
        )  # fmt: skip

    return (
        *(
            forged(
                f"docx: all bold except U+{ord(mark):04X} around it",
                at(path, between(mark, mark, bold)),
                **args,
            )
            for mark in marks
        ),
        *(
            another_way(
                f"docx: regular letters after U+{ord(mark):04X}",
                at(path, between(mark, mark, "")),
                **args,
            )
            for mark in marks[:1]
        ),
        near_miss("docx: all bold next to X", at(path, body(paragraph(run("X now X", bold)))), **args),
        another_way("docx: all bold except for the adjacent letters", at(path, body(paragraph(
            run("It i", bold) + run("s ") + run("now", bold) + run(" o") + run("r never", bold)))), **args),
        another_way("docx: only surrounding invisible characters also bold", at(path, body(paragraph(
            run(marks, bold) + run("now", bold) + run(marks, bold)))), **args),
    )  # fmt: skip
