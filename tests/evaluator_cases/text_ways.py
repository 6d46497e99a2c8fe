"""Forged text documents, and legitimate ones in different forms than those of `documents.text`."""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import changed, docx, encoded, noise, odf, unzipped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.testing.case import Case
    from provisioning.protocols import Json
    from tests.evaluator_cases.document_cases import Make

_PART = "word/document.xml"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD_2010 = "http://schemas.microsoft.com/office/word/2010/wordml"
_OUTLINE = '<w:outlineLvl w:val="{}"/>'
_TRACKED = 'w:id="7" w:author="Ann" w:date="2026-11-21T10:00:00Z"'
_HIDDEN_STYLES = (
    '<style:style style:name="HN" style:family="text"><style:text-properties {}/></style:style>'
)
_PARAGRAPH_STYLE = (
    '<style:style style:name="PN" style:family="paragraph"><style:paragraph-properties {}/>'
    "</style:style>"
)
_UNSEEN = {
    "hidden characters": "<w:vanish/>",
    "white on white": '<w:color w:val="FFFFFF"/>',
    "zero size": '<w:sz w:val="0"/>',
    "character width of 1 %": '<w:w w:val="1"/>',
    "not filled": f'<x:textFill xmlns:x="{_WORD_2010}"><x:noFill/></x:textFill>',
}


def body(xml: str) -> Make:
    """Return a function that creates a .docx with this WordprocessingML as its body."""

    @cache
    def make() -> bytes:
        data = docx(lambda _: None)
        text = unzipped(data)[_PART].decode()
        return changed(data, {_PART: text.replace("<w:body>", f"<w:body>{xml}", 1).encode()})

    return make


def paragraph(runs: str, properties: str = "") -> str:
    """Return the WordprocessingML of a paragraph."""
    return f"<w:p><w:pPr>{properties}</w:pPr>{runs}</w:p>"


def run(text: str, properties: str = "") -> str:
    """Return the WordprocessingML of a run."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def inserted(runs: str) -> str:
    """Return runs as a tracked insertion."""
    return f"<w:ins {_TRACKED}>{runs}</w:ins>"


def deleted(runs: str) -> str:
    """Return runs as a tracked deletion."""
    return f"<w:del {_TRACKED}>{runs.replace('w:t', 'w:delText')}</w:del>"


def linked(runs: str) -> str:
    """Return runs as a link within the document."""
    return f'<w:hyperlink w:anchor="top">{runs}</w:hyperlink>'


def _with_run_property(make: Make, xml: str) -> bytes:
    """Return a .docx whose runs all have an additional property."""
    text = unzipped(make())[_PART].decode()
    text = re.sub(r"<w:r>(?!<w:rPr>)", "<w:r><w:rPr></w:rPr>", text)
    text = re.sub(r"(<w:r><w:rPr>)", rf"\1{xml}", text.replace("<w:rPr/>", "<w:rPr></w:rPr>"))
    return changed(make(), {_PART: text.encode()})


def _all_deleted(make: Make) -> bytes:
    """Return a .docx with a tracked deletion of all its runs."""
    text = unzipped(make())[_PART].decode()
    text = re.sub(r"<w:r>.*?</w:r>", rf"<w:del {_TRACKED}>\g<0></w:del>", text, flags=re.DOTALL)
    text = text.replace("<w:t>", "<w:delText>").replace("</w:t>", "</w:delText>")
    return changed(make(), {_PART: text.encode()})


def _in_hidden_section(make: Make) -> bytes:
    """Return an .odt with all its content in a section that is not displayed."""
    text = unzipped(make())["content.xml"].decode()
    text = text.replace("<office:text>", '<office:text><text:section text:display="none">')
    text = text.replace("</office:text>", "</text:section></office:text>")
    return changed(make(), {"content.xml": text.encode()})


def hidden_cases(good: Mapping[str, Make], args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of documents with the right, but invisible content."""
    path = str(args["path"])
    return (
        *(
            forged(
                f"docx: {name}", at(path, partial(_with_run_property, good["docx"], xml)), **args
            )
            for name, xml in _UNSEEN.items()
        ),
        forged("docx: tracked deletion", at(path, partial(_all_deleted, good["docx"])), **args),
        forged("odt: hidden section", at(path, partial(_in_hidden_section, good["odt"])), **args),
    )


def _comment(text: str) -> bytes:
    def build(document: Any) -> None:
        document.add_comment(document.add_paragraph("x").runs, text=text)

    return docx(build)


def _header(text: str) -> bytes:
    def build(document: Any) -> None:
        document.sections[0].header.paragraphs[0].text = text

    return docx(build)


def document_of_style(text: str, properties: str, *, name: str = "Own") -> Make:
    """Return a function that creates a .docx with a paragraph whose style has this name and these properties."""

    @cache
    def make() -> bytes:
        part = "word/styles.xml"
        data = body(paragraph(run(text), '<w:pStyle w:val="Own"/>'))()
        opening = f'<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="{name}"/>'
        style = f"{opening}{properties}</w:style></w:styles>"
        return changed(
            data, {part: unzipped(data)[part].decode().replace("</w:styles>", style).encode()}
        )

    return make


def _by_default(text: str, kind: str, properties: str) -> Make:
    """Return a function that creates a .docx with a paragraph, and with default properties of text or paragraphs."""

    @cache
    def make() -> bytes:
        part = "word/styles.xml"
        data = body(paragraph(run(text)))()
        styles = re.sub(
            rf"<w:{kind}Default(/>|>.*?</w:{kind}Default>)",
            f"<w:{kind}Default><w:{kind}>{properties}</w:{kind}></w:{kind}Default>",
            unzipped(data)[part].decode(),
            flags=re.DOTALL,
        )
        assert properties in styles
        return changed(data, {part: styles.encode()})

    return make


def odt_of_text_style(text: str, properties: str) -> bytes:
    """Create an .odt with a text whose style has these properties."""
    span = f"<text:p><text:span text:style-name='HN'>{text}</text:span></text:p>"
    return odf("text", span, automatic=_HIDDEN_STYLES.format(properties))


def odt_of_paragraph_style(text: str, properties: str) -> bytes:
    """Create an .odt with a paragraph whose style has these properties."""
    style = _PARAGRAPH_STYLE.format(properties)
    return odf("text", f"<text:p text:style-name='PN'>{text}</text:p>", automatic=style)


def paragraph_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of one paragraph: outside the body, or legitimate in a different form.

    Args:
        text: the paragraph.
        args: arguments of an evaluator that is met by only this paragraph.
    """
    path = str(args["path"])
    first, rest = text[:4], text[4:]
    odt_styles = {
        "not displayed": 'text:display="none"',
        "white": 'fo:color="#ffffff"',
        "white on a similar colour": 'fo:color="#fefefe" fo:background-color="#ffffff"',
        "zero size": 'fo:font-size="0pt"',
        "font size in a different unit": 'fo:font-size="0.1mm"',
        "font size of 1 %": 'fo:font-size="1%"',
        "transparent": 'loext:opacity="0%"',
        "character width of 1 %": 'style:text-scale="1%"',
        "raised and tiny": 'style:text-position="33% 1%"',
        "overlapping letters": 'fo:letter-spacing="-1cm"',
    }
    odt_paragraphs = {
        "left of the page": 'fo:margin-left="-50cm"',
        "first line left of the page": 'fo:text-indent="-50cm"',
        "right of the page": 'fo:margin-right="-50cm" fo:text-align="end"',
        "line height of zero": 'fo:line-height="0.001cm"',
        "line height of 1 %": 'fo:line-height="1%"',
    }
    odt_honest = {
        "semi-transparent": 'loext:opacity="50%"',
        "automatic font colour": 'style:use-window-font-color="true" loext:opacity="0%"',
        "condensed": 'style:text-scale="80%" fo:letter-spacing="-0.2mm"',
        "raised": 'style:text-position="super 58%" fo:font-size="0.5cm"',
    }
    note = f"<office:annotation><text:p>{text}</text:p></office:annotation>"
    condition = f"<text:p><text:hidden-paragraph text:is-hidden='true'/>{text}</text:p>"
    ways = {
        "tracked insertion": inserted(run(text)),
        "partly a tracked insertion": run(first) + inserted(run(rest)),
        "tracked move to here": f"<w:moveTo {_TRACKED}>{run(text)}</w:moveTo>",
        "partly a link": run(first) + linked(run(rest)),
        "in a content control": f"<w:sdt><w:sdtContent>{run(text)}</w:sdtContent></w:sdt>",
        "with ruby text": "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>x</w:t></w:r></w:rt>"
        f"<w:rubyBase>{run(text)}</w:rubyBase></w:ruby></w:r>",
        "content control around the paragraph": f"</w:p><w:sdt><w:sdtContent>{paragraph(run(text))}"
        "</w:sdtContent></w:sdt><w:p>",
        "next to a tracked deletion": run(text) + deleted(run(" or not")),
        "condensed": run(text, '<w:w w:val="80"/>'),
        "white on black": run(
            text, '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="000000"/>'
        ),
    }
    mark = f"<w:rPr><w:del {_TRACKED}/></w:rPr>"
    return (
        forged(
            "docx: paragraph merged with the next one, tracked",
            at(path, body(paragraph(run(text), mark) + paragraph(run("Bob")))),
            **args,
        ),
        another_way(
            "docx: two paragraphs merged, tracked",
            at(path, body(paragraph(run(first), mark) + paragraph(run(rest)))),
            **args,
        ),
        *(
            forged(f"docx: {name} by default", at(path, _by_default(text, "rPr", xml)), **args)
            for name, xml in {
                "hidden": "<w:vanish/>",
                "white": '<w:color w:val="FFFFFF"/>',
            }.items()
        ),
        forged(
            "docx: symbol after it",
            at(
                path,
                body(paragraph(run(text) + '<w:r><w:sym w:font="Wingdings" w:char="F04A"/></w:r>')),
            ),
            **args,
        ),
        forged("docx: in a comment", at(path, partial(_comment, text)), **args),
        forged("docx: in a header", at(path, partial(_header, text)), **args),
        forged(
            "docx: tracked move away",
            at(path, body(paragraph(f"<w:moveFrom {_TRACKED}>{run(text)}</w:moveFrom>"))),
            **args,
        ),
        *(
            forged(f"odt: {name}", at(path, partial(odt_of_text_style, text, xml)), **args)
            for name, xml in odt_styles.items()
        ),
        forged(
            "odt: in a comment", at(path, partial(odf, "text", f"<text:p>x{note}</text:p>")), **args
        ),
        *(
            forged(f"odt: {name}", at(path, partial(odt_of_paragraph_style, text, xml)), **args)
            for name, xml in odt_paragraphs.items()
        ),
        *(
            another_way(f"odt: {name}", at(path, partial(odt_of_text_style, text, xml)), **args)
            for name, xml in odt_honest.items()
        ),
        another_way(
            "odt: indented, first line less",
            at(
                path,
                partial(
                    odt_of_paragraph_style,
                    text,
                    'fo:margin-left="2cm" fo:text-indent="-3cm" fo:line-height="90%"',
                ),
            ),
            **args,
        ),
        forged("odt: hidden paragraph", at(path, partial(odf, "text", condition)), **args),
        *(
            another_way(f"docx: {name}", at(path, body(paragraph(xml))), **args)
            for name, xml in ways.items()
        ),
        another_way(
            "odt: white on black",
            at(
                path,
                partial(
                    odt_of_text_style, text, 'fo:color="#fff000" fo:background-color="#000000"'
                ),
            ),
            **args,
        ),
    )


def heading_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return different legitimate forms of a heading of level 1."""
    path = str(args["path"])
    style = '<w:pStyle w:val="Heading1"/>'
    return (
        another_way(
            "docx: tracked insertion", at(path, body(paragraph(inserted(run(text)), style))), **args
        ),
        another_way("docx: link", at(path, body(paragraph(linked(run(text)), style))), **args),
        *(
            case(f"docx: {name}", at(path, make), **args)
            for case, name, make in (
                (
                    another_way,
                    "outline level of the paragraph",
                    body(paragraph(run(text), _OUTLINE.format(0))),
                ),
                (
                    another_way,
                    "outline level of the style",
                    document_of_style(text, f"<w:pPr>{_OUTLINE.format(0)}</w:pPr>"),
                ),
                (
                    another_way,
                    "style derived from a heading style",
                    document_of_style(text, '<w:basedOn w:val="Heading1"/>'),
                ),
                (forged, "different outline level", body(paragraph(run(text), _OUTLINE.format(1)))),
                (forged, "body text level", body(paragraph(run(text), _OUTLINE.format(9)))),
                (
                    forged,
                    "heading style with body text level",
                    body(paragraph(run(text), style + _OUTLINE.format(9))),
                ),
                (
                    forged,
                    "invalid outline level",
                    body(paragraph(run(text), _OUTLINE.format("first"))),
                ),
                (
                    forged,
                    "style derived from a different heading style",
                    document_of_style(text, '<w:basedOn w:val="Heading2"/>'),
                ),
                (
                    another_way,
                    "heading style without an outline level",
                    document_of_style(text, "", name="Heading 1"),
                ),
            )
        ),
    )


def passage_cases(
    args: Mapping[str, Json], properties: str, style_properties: str
) -> tuple[Case, ...]:
    """Return different legitimate forms of the passage "now" in "It is now or never".

    Args:
        args: arguments of an evaluator of the passage's formatting.
        properties: WordprocessingML of the formatting, set on the passage.
        style_properties: the same as attributes of OpenDocument's text properties.
    """
    path = str(args["path"])
    tracked = run("It is ") + inserted(run("now", properties)) + run(" or never")
    split = run("It is ") + run("n", properties) + linked(run("ow", properties)) + run(" or never")
    named = (
        "<office:styles><style:style style:name='Loud' style:family='text'>"
        f"<style:text-properties {style_properties}/></style:style></office:styles>"
    )
    text = "<text:p>It is <text:span text:style-name='Loud'>now</text:span> or never</text:p>"
    return (
        another_way("docx: tracked insertion", at(path, body(paragraph(tracked))), **args),
        another_way("docx: partly a link", at(path, body(paragraph(split))), **args),
        another_way("odt: named style", at(path, partial(odf, "text", text, styles=named)), **args),
    )


def underline_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the colour of the underline of the passage "now" in "It is now or never".

    Args:
        args: arguments of an evaluator that is met if the passage is underlined.
    """
    path = str(args["path"])

    def docx_line(colour: str, more: str = "", theme: str = "") -> Make:
        named = f' w:themeColor="{theme}"' if theme else ""
        line = run("now", f'<w:u w:val="single" w:color="{colour}"{named}/>{more}')
        return body(paragraph(run("It is ") + line + run(" or never")))

    def odt_line(colour: str) -> Make:
        text = "<text:p>It is <text:span text:style-name='Line'>now</text:span> or never</text:p>"
        style = (
            "<style:style style:name='Line' style:family='text'><style:text-properties "
            "style:text-underline-style='solid' "
            f"style:text-underline-color='{colour}'/></style:style>"
        )
        return partial(odf, "text", text, automatic=style)

    return (
        forged("docx: white underline", at(path, docx_line("FFFFFF")), **args),
        forged(
            "docx: underline in the background colour",
            at(path, docx_line("ABCDEF", '<w:shd w:val="clear" w:fill="ABCDEF"/>')),
            **args,
        ),
        *(
            forged(f"docx: underline in {name}", at(path, docx_line("auto", theme=name)), **args)
            for name in ("background1", "light1")
        ),
        another_way(
            "docx: underline in accent1", at(path, docx_line("4472C4", theme="accent1")), **args
        ),
        forged("odt: white underline", at(path, odt_line("#fefefe")), **args),
        another_way("docx: red underline", at(path, docx_line("FF0000")), **args),
        another_way("docx: underline in the text colour", at(path, docx_line("auto")), **args),
        another_way("odt: red underline", at(path, odt_line("#ff0000")), **args),
        another_way("odt: underline in the text colour", at(path, odt_line("font-color")), **args),
    )


def alignment_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the names that programs use for alignments.

    Args:
        text: the paragraph.
        args: the evaluator's arguments without ``alignment``.
    """
    path = str(args["path"])
    names = {
        "end": "right",
        "start": "left",
        "both": "justify",
        "distribute": "justify",
        "thaiDistribute": "justify",
    }
    cases = [
        another_way(
            f'docx: jc="{name}"',
            at(path, body(paragraph(run(text), f'<w:jc w:val="{name}"/>'))),
            **{**args, "alignment": alignment},
        )
        for name, alignment in names.items()
    ]
    style = (
        '<style:style style:name="HN" style:family="paragraph">'
        '<style:paragraph-properties fo:text-align="end"/></style:style>'
    )
    odt = partial(odf, "text", f"<text:p text:style-name='HN'>{text}</text:p>", automatic=style)
    right = {**args, "alignment": "right"}
    styled = document_of_style(text, '<w:pPr><w:jc w:val="end"/></w:pPr>')

    default = _by_default(text, "pPr", '<w:jc w:val="right"/>')
    from_the_right = body(paragraph(run(text), "<w:bidi/>"))

    def leftwards(name: str, value: str = "") -> Make:
        return body(paragraph(run(text), f'<w:bidi{value}/><w:jc w:val="{name}"/>'))

    return (
        *cases,
        another_way("docx: right by default", at(path, default), **right),
        another_way("docx: right-to-left paragraph", at(path, from_the_right), **right),
        forged(
            "docx: right-to-left paragraph is not left",
            at(path, from_the_right),
            **{**args, "alignment": "left"},
        ),
        forged("docx: `right` in a right-to-left paragraph", at(path, leftwards("right")), **right),
        *(
            another_way(
                f"docx: `{name}` in a right-to-left paragraph is left",
                at(path, leftwards(name)),
                **{**args, "alignment": "left"},
            )
            for name in ("right", "end")
        ),
        another_way(
            "docx: `left` in a right-to-left paragraph", at(path, leftwards("left")), **right
        ),
        *(
            another_way(
                f"docx: `right` in a right-to-left paragraph: {value}",
                at(path, leftwards("right", f' w:val="{value}"')),
                **right,
            )
            for value in ("0", "false", "off")
        ),
        forged(
            "docx: `right` in a right-to-left paragraph: true",
            at(path, leftwards("right", ' w:val="true"')),
            **right,
        ),
        another_way("odt: end", at(path, odt), **right),
        another_way("docx: right by its style", at(path, styled), **right),
    )


def table_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return different legitimate forms of the table of Ann's age."""
    path = str(args["path"])

    def row(*cells: str, properties: str = "", shade: str = "") -> str:
        own = f'<w:tcPr><w:shd w:val="clear" w:fill="{shade}"/></w:tcPr>' if shade else ""
        inner = "".join(f"<w:tc>{own}{paragraph(cell)}</w:tc>" for cell in cells)
        return f"<w:tr><w:trPr>{properties}</w:trPr>{inner}</w:tr>"

    def grid(*rows: str, around: str = "{}") -> Make:
        columns = "<w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
        table = f"<w:tbl><w:tblPr/>{columns}{''.join(rows)}</w:tbl>"
        return body(f"{around.format(table)}<w:p/>")

    head = row(run("Name"), run("Age"))
    new = row(inserted(run("Ann")), inserted(run("31")))
    gone = row(deleted(run("Bob")), deleted(run("32")), properties=f"<w:del {_TRACKED}/>")
    split = row(run("An") + linked(run("n")), run("31") + deleted(run("0")))
    ann = row(run("Ann"), run("31"))
    white = '<w:color w:val="FFFFFF"/>'
    dark = row(run("Name", white), run("Age", white), shade="000000")
    lost = row(run("Ann", '<w:color w:val="000000"/>'), run("31"), shade="000000")
    control = "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>"
    unseen = row(run("Bob"), run("32"), properties="<w:hidden/>")
    lines = grid(head, row(run("Ann") + "</w:p><w:p>" + run("Lee"), run("31")))
    two: dict[str, Any] = {**args, "rows": [["Name", "Age"], ["Ann\nLee", "31"]]}
    return (
        another_way("docx: two lines in a cell", at(path, lines), **two),
        another_way("docx: tracked insertion of a row", at(path, grid(head, new)), **args),
        another_way("docx: tracked deletion of a row", at(path, grid(head, new, gone)), **args),
        forged(
            "docx: hidden row",
            at(path, grid(head, row(run("Ann"), run("31"), properties="<w:hidden/>"))),
            **args,
        ),
        forged("docx: black on a black cell", at(path, grid(head, lost)), **args),
        another_way("docx: white on black cells", at(path, grid(dark, ann)), **args),
        another_way(
            "docx: automatic shading",
            at(path, grid(head, row(run("Ann"), run("31"), shade="auto"))),
            **args,
        ),
        another_way(
            "docx: in a content control", at(path, grid(head, ann, around=control)), **args
        ),
        another_way("docx: additional hidden row", at(path, grid(head, new, unseen)), **args),
        another_way("docx: tracked changes in cells", at(path, grid(head, split)), **args),
    )


def picture_count_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return forged and legitimate cases of two pictures."""
    path = str(args["path"])
    files = {f"Pictures/{number}.png": encoded(noise(number, (16, 12))) for number in (1, 2)}
    image = '<draw:image xlink:href="Pictures/{}.png"/>'

    def frames(*contents: str, size: str = "") -> str:
        inner = "".join(f"<draw:frame {size}>{content}</draw:frame>" for content in contents)
        return f"<text:p>{inner}</text:p>"

    cropped = (
        '<style:style style:name="GC" style:family="graphic"><style:graphic-properties '
        'fo:clip="rect(0cm, 1cm, 1cm, 0cm)"/></style:style>'
    )

    def odt(xml: str) -> Make:
        return partial(odf, "text", xml, files=files, automatic=cropped)

    first, second = image.format(1), image.format(2)
    drawing = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'

    def with_second(content: bytes) -> Make:
        parts = {**files, "Pictures/2.png": content}
        return partial(odf, "text", frames(first, second), files=parts)

    tracked = (
        "<text:tracked-changes><text:changed-region><text:deletion>{}</text:deletion>"
        "</text:changed-region></text:tracked-changes>"
    )
    return (
        forged("odt: files that are not displayed", at(path, odt("<text:p>x</text:p>")), **args),
        forged("odt: one picture in two formats", at(path, odt(frames(first + second))), **args),
        forged("odt: pictures without a size", at(path, odt(frames(first, second, size='svg:width="0cm"'))), **args),
        forged("odt: tracked deletion", at(path, odt(tracked.format(frames(first, second)))), **args),
        forged("docx: tracked deletion", at(path, partial(_drawn, "w:del")), **args),
        forged("docx: hidden pictures", at(path, partial(_drawn, "", "<w:vanish/>")), **args),
        forged("odt: one file that is not a picture", at(path, with_second(b"no picture")), **args),
        forged("odt: one empty file", at(path, with_second(b"")), **args),
        another_way("odt: one SVG picture", at(path, with_second(drawing)), **args),
        another_way("odt: one EMF picture", at(path, with_second(b"\1" * 40 + b" EMF")), **args),
        another_way("odt: one WMF picture", at(path, with_second(b"\xd7\xcd\xc6\x9a")), **args),
        another_way("odt: one PDF picture", at(path, with_second(b"%PDF-1.7")), **args),
        another_way(
            "odt: cropped",
            at(path, odt(frames(first, second, size='draw:style-name="GC"'))),
            **args,
        ),
        another_way("odt: each picture in two formats", at(path, odt(frames(first + second, second + first))), **args),
        another_way("odt: one picture in a frame with its caption", at(path, odt(frames(
            f"<draw:text-box>{frames(first)}</draw:text-box>", second))), **args),
        another_way("docx: tracked insertion", at(path, partial(_drawn, "w:ins")), **args),
    )  # fmt: skip


def _drawn(wrapper: str, properties: str = "") -> bytes:
    """Return a .docx with two pictures in runs with properties, as a tracked change."""
    import io

    def build(document: Any) -> None:
        for number in (1, 2):
            document.add_picture(io.BytesIO(encoded(noise(number, (32, 24)))), width=400_000)

    data = docx(build)
    text = unzipped(data)[_PART].decode()
    text = text.replace("<w:r>", f"<w:r><w:rPr>{properties}</w:rPr>")
    if wrapper:
        marked = rf"<{wrapper} {_TRACKED}>\g<0></{wrapper}>"
        text = re.sub(r"<w:r>.*?</w:r>", marked, text, flags=re.DOTALL)
    return changed(data, {_PART: text.encode()})
