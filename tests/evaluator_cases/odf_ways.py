"""OpenDocument text as other programs write it, for each element and attribute that the reader supports."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged, hostile, near_miss
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import changed, encoded, noise, odf, unzipped
from tests.evaluator_cases.text_ways import odt_of_paragraph_style

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evaluators.testing.case import Case
    from provisioning.protocols import Json

_MIME = "application/vnd.oasis.opendocument.text"
_LAYOUT = (
    '<office:automatic-styles><style:page-layout style:name="L"><style:page-layout-properties '
    'fo:page-width="{width}" fo:page-height="20cm" {margins}/></style:page-layout>'
    "</office:automatic-styles>"
)
_NARROW: dict[str, str] = {
    "width": "100mm",
    "margins": 'fo:margin-left="5mm" fo:margin-right="8mm"',
}
_BESIDE = {
    "a note": "<text:note><text:note-citation>1</text:note-citation><text:note-body>"
    "<text:p>x</text:p></text:note-body></text:note>",
    "a comment": "<office:annotation><text:p>x</text:p></office:annotation>",
    "a frame": "<draw:frame><draw:text-box><text:p>x</text:p></draw:text-box></draw:frame>",
    "ruby text": "<text:ruby><text:ruby-base/><text:ruby-text>x</text:ruby-text></text:ruby>",
    "a script": "<text:script>x</text:script>",
    "tracked changes": "<text:tracked-changes><text:changed-region><text:deletion><text:p>x</text:p>"
    "</text:deletion></text:changed-region></text:tracked-changes>",
    "a hidden field": '<text:hidden-text text:is-hidden="true">x</text:hidden-text>',
    "a field that displays nothing": '<text:variable-set text:display="none">x</text:variable-set>',
    "a generated number": "<text:number>7.</text:number>",
}
"""Elements in a paragraph that are not part of its text."""
_WITHIN = {
    "a link": '<text:a xlink:href="http://127.0.0.1/">{}</text:a>',
    "a field": "<text:title>{}</text:title>",
    "a visible field": '<text:hidden-text text:is-hidden="false">{}</text:hidden-text>',
    "a ruby base": "<text:ruby><text:ruby-base>{}</text:ruby-base></text:ruby>",
}
_ELSEWHERE = {
    "a frame of the page": "<draw:frame><draw:text-box>{}</draw:text-box></draw:frame>",
    "a note": '<text:note text:note-class="endnote"><text:note-body>{}</text:note-body></text:note>',
    "a comment": "<office:annotation>{}</office:annotation>",
    "a section hidden by its stored condition": '<text:section text:display="condition" '
    'text:is-hidden="true">{}</text:section>',
    "a section hidden by a condition": '<text:section text:display="condition" '
    'text:condition="ooow:1==1">{}</text:section>',
}
_SECTIONS = {
    "a section": "<text:section>{}</text:section>",
    "a section displayed by a condition": '<text:section text:display="condition" '
    'text:is-hidden="false">{}</text:section>',
    "a section without a condition": '<text:section text:is-hidden="true">{}</text:section>',
    "a list": "<text:list><text:list-item>{}</text:list-item></text:list>",
}
_AT_THE_EDGE = {
    "start left of the right edge": 'fo:margin-left="189.5mm"',
    "end right of the left edge": 'fo:margin-right="189.5mm"',
    "5 mm left of the page": 'fo:margin-left="-25mm"',
    "first line indented by 5 cm": 'fo:text-indent="5cm"',
}
_OFF_THE_EDGE = {
    "start at the right edge": 'fo:margin-left="190mm"',
    "end at the left edge": 'fo:margin-right="190mm"',
    "first line 5.5 mm left of the page": 'fo:text-indent="-25.5mm"',
}
_WHITE, _BLACK = 'fo:color="#ffffff"', 'fo:background-color="#000000"'
_NESTED = (
    (another_way, "white in a black paragraph", _BLACK, "", _WHITE),
    (
        another_way,
        "white on a transparent background in a black paragraph",
        _BLACK,
        "",
        f'{_WHITE} fo:background-color="transparent"',
    ),
    (forged, "white on white in a black paragraph", _BLACK, "", _WHITE + ' fo:background-color="#ffffff"'),
    (another_way, "coloured text in a transparent paragraph", "", 'loext:opacity="0%"', 'fo:color="#000000"'),
    (forged, "bold text in a transparent paragraph", "", 'loext:opacity="0%"', 'fo:font-weight="bold"'),
    (forged, "40 % of 40 % of the font size", "", 'fo:font-size="40%"', 'fo:font-size="40%"'),
    (another_way, "50 % of the font size", "", 'fo:font-size="5pt"', 'fo:font-size="50%"'),
)  # fmt: skip
_ON_PAGES = (
    (forged, "right of a narrow page", _NARROW, 'fo:margin-left="96mm"'),
    (forged, "left of a narrow page", _NARROW, 'fo:margin-right="93mm"'),
    (another_way, "on a narrow page", _NARROW, 'fo:margin-left="94.9mm" fo:margin-right="91.9mm"'),
    (
        forged,
        "right of a page with one margin for all sides",
        {"width": "100mm", "margins": 'fo:margin="6mm"'},
        'fo:margin-left="95mm"',
    ),
    (
        forged,
        "on a page with a negative right margin",
        {"width": "210mm", "margins": 'fo:margin-left="2cm" fo:margin-right="-5.5mm"'},
        "",
    ),
)


def _odt(body: str, **more: Any) -> Any:
    return partial(odf, "text", body, **more)


def of_another_kind(data: bytes, kind: str) -> bytes:
    """Return an .odt that declares a different kind, such as ``text-template``."""
    parts = unzipped(data)
    manifest = parts["META-INF/manifest.xml"].replace(_MIME.encode(), f"{_MIME}-{kind}".encode())
    return changed(
        data, {"mimetype": f"{_MIME}-{kind}".encode(), "META-INF/manifest.xml": manifest}
    )


def body_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of one paragraph in the body of a text document.

    Args:
        text: the paragraph.
        args: arguments of an evaluator that is met by only this paragraph.
    """
    path = str(args["path"])
    first, rest = text[:4], text[4:]
    plain = f"<text:p>{text}</text:p>"

    def cases() -> Iterator[Case]:
        for name, xml in _BESIDE.items():
            with_it = f"<text:p>{first}{xml}{rest}</text:p>"
            yield another_way(f"odt: next to {name}", at(path, _odt(with_it)), **args)
        for name, xml in _WITHIN.items():
            within = f"<text:p>{first}{xml.format(rest)}</text:p>"
            yield another_way(f"odt: partly within {name}", at(path, _odt(within)), **args)
        for name, xml in _ELSEWHERE.items():
            yield forged(f"odt: within {name}", at(path, _odt(xml.format(plain))), **args)
        for name, xml in _SECTIONS.items():
            yield another_way(f"odt: within {name}", at(path, _odt(xml.format(plain))), **args)
        spaced = plain.replace(" ", "<text:s/>")
        yield another_way("odt: space as an element", at(path, _odt(spaced)), **args)
        template = partial(of_another_kind, odf("text", plain), "template")
        yield another_way("odt: template", at(path, template), **args)
        master = partial(of_another_kind, odf("text", plain), "master")
        yield forged("odt: master document", at(path, master), **args)

    return tuple(cases())


def part_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of a document of one paragraph with additional valid or malformed parts.

    Args:
        text: the paragraph.
        args: arguments of an evaluator that is met by only this paragraph.
    """
    path = str(args["path"])
    plain = f"<text:p>{text}</text:p>"
    macros = b'<!DOCTYPE script:module PUBLIC "-//OpenOffice.org//DTD" "module.dtd"><module/>'
    typed = f"<!DOCTYPE document><document>{text}</document>".encode()
    return (
        another_way(
            "odt: with macros", at(path, _odt(plain, files={"Basic/script-lc.xml": macros})), **args
        ),
        hostile("odt: document type", at(path, _odt(plain, doctype="<!DOCTYPE document>")), **args),
        *(
            hostile(f"odt: {name}, {what}", at(path, _odt(plain, files={name: content})), **args)
            for name in ("Extra.XML", "extra.rels", "extra.vml", "manifest.rdf")
            for what, content in (("broken", b"<a>"), ("with a document type", typed))
        ),
    )


def page_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of one paragraph at the edges of its page.

    Args:
        text: the paragraph.
        args: arguments of an evaluator that is met by only this paragraph.
    """
    path = str(args["path"])
    edges = ((another_way, _AT_THE_EDGE), (forged, _OFF_THE_EDGE))
    style = '<style:style style:name="PN" style:family="paragraph"><style:paragraph-properties {}/></style:style>'
    content = f'<text:p text:style-name="PN">{text}</text:p>'
    return (
        *(
            case(f"odt: {name}", at(path, partial(odt_of_paragraph_style, text, xml)), **args)
            for case, edge in edges
            for name, xml in edge.items()
        ),
        *(
            case(
                f"odt: {name}",
                at(
                    path,
                    _odt(content, automatic=style.format(xml), styles=_LAYOUT.format(**page)),
                ),
                **args,
            )
            for case, name, page, xml in _ON_PAGES
        ),
    )


def nested_style_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of one paragraph that combine its style with its text's style.

    Args:
        text: the paragraph.
        args: arguments of an evaluator that is met by only this paragraph.
    """
    path = str(args["path"])
    styles = (
        "<style:style style:name='P' style:family='paragraph'><style:paragraph-properties {}/>"
        "<style:text-properties {}/></style:style><style:style style:name='S' style:family='text'>"
        "<style:text-properties {}/></style:style>"
    )
    content = (
        f"<text:p text:style-name='P'><text:span text:style-name='S'>{text}</text:span></text:p>"
    )
    return tuple(
        case(
            f"odt: {name}",
            at(path, _odt(content, automatic=styles.format(paragraph, around, own))),
            **args,
        )
        for case, name, paragraph, around, own in _NESTED
    )


def heading_level_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of a heading of level 1."""
    path = str(args["path"])
    return (
        another_way(
            "odt: heading without a level", at(path, _odt(f"<text:h>{text}</text:h>")), **args
        ),
        near_miss(
            "odt: paragraph instead of a heading",
            at(path, _odt(f"<text:p>{text}</text:p>")),
            **args,
        ),
    )


def look_value_cases(
    args: Mapping[str, Json], name: str, values: Mapping[str, bool]
) -> tuple[Case, ...]:
    """Return cases of the passage "now" in "It is now or never", by the values of an attribute.

    Args:
        args: arguments of an evaluator of the passage's formatting.
        name: attribute of OpenDocument's text properties.
        values: whether each value of the attribute enables the formatting.
    """
    path = str(args["path"])
    text = "<text:p>It is <text:span text:style-name='L'>now</text:span> or never</text:p>"
    style = (
        "<style:style style:name='L' style:family='text'>"
        "<style:text-properties {}='{}'/></style:style>"
    )
    derived = style.format(name, next(iter(values))) + (
        "<style:style style:name='M' style:family='text' style:parent-style-name='L'/>"
    )
    return (
        *(
            (another_way if is_so else near_miss)(
                f"odt: {name} {value}",
                at(path, _odt(text, automatic=style.format(name, value))),
                **args,
            )
            for value, is_so in values.items()
        ),
        another_way(
            f"odt: {name}, with a derived style",
            at(path, _odt(text.replace("'L'", "'M'"), automatic=derived)),
            **args,
        ),
    )


def share_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of a passage of 18 pt whose size is a share of its paragraph's size."""
    path = str(args["path"])
    style = "<style:style style:name='{}' style:family='{}'><style:text-properties fo:font-size='{}'/></style:style>"
    text = (
        "<text:p text:style-name='P'>It is <text:span text:style-name='S'>now</text:span> or never"
        "</text:p>"
    )

    def document(size: str, share: str) -> Any:
        styles = style.format("P", "paragraph", size) + style.format("S", "text", share)
        return at(path, _odt(text, automatic=styles))

    return (
        another_way("odt: half of 36 pt", document("36pt", "50%"), **args),
        another_way("odt: half of 0.5 inches", document("0.5in", "50%"), **args),
        another_way("odt: twice 9 pt, with spaces", document("9pt", " 200% "), **args),
        near_miss("odt: half of 18 pt", document("18pt", "50%"), **args),
        near_miss("odt: half of an undefined size", document("", "50%"), **args),
        another_way("odt: in millimetres", document("36pt", "6.35mm"), **args),
    )


def align_cases(text: str, args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of OpenDocument's names of alignments, and of a paragraph without one.

    Args:
        text: the paragraph.
        args: the evaluator's arguments without ``alignment``.
    """
    path = str(args["path"])
    names = {
        "start": "left",
        "left": "left",
        "end": "right",
        "right": "right",
        "justify": "justify",
    }
    return (
        *(
            another_way(
                f"odt: aligned {name}",
                at(path, partial(odt_of_paragraph_style, text, f'fo:text-align="{name}"')),
                **{**args, "alignment": alignment},
            )
            for name, alignment in names.items()
        ),
        another_way(
            "odt: not aligned",
            at(path, _odt(f"<text:p>{text}</text:p>")),
            **{**args, "alignment": "left"},
        ),
        another_way(
            "odt: style derived from an aligned one",
            at(
                path,
                _odt(
                    f"<text:p text:style-name='B'>{text}</text:p>",
                    automatic="<style:style style:name='A' style:family='paragraph'>"
                    "<style:paragraph-properties fo:text-align='center'/></style:style>"
                    "<style:style style:name='B' style:family='paragraph' "
                    "style:parent-style-name='A'/>",
                ),
            ),
            **{**args, "alignment": "center"},
        ),
    )


def cell_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of the table of Ann's age with cells that contain more than plain paragraphs."""
    path = str(args["path"])
    contents = {
        "a passage in a different style": "<text:p>A<text:span text:style-name='x'>nn</text:span></text:p>",
        "a heading": "<text:h>Ann</text:h>",
        "a comment": "<office:annotation><text:p>x</text:p></office:annotation><text:p>Ann</text:p>",
        "a table": "<table:table><table:table-row><table:table-cell><text:p>Ann</text:p>"
        "</table:table-cell></table:table-row></table:table>",
    }
    cell = "<table:table-cell>{}</table:table-cell>"
    plain = [cell.format(f"<text:p>{text}</text:p>") for text in ("Name", "Age", "31")]

    def table(xml: str) -> str:
        row = f"<table:table-row>{plain[0]}{plain[1]}</table:table-row>"
        return f"<table:table>{row}<table:table-row>{cell.format(xml)}{plain[2]}</table:table-row></table:table>"

    return tuple(
        another_way(f"odt: a cell with {name}", at(path, _odt(table(xml))), **args)
        for name, xml in contents.items()
    )


def shown_picture_cases(args: Mapping[str, Json]) -> tuple[Case, ...]:
    """Return cases of two pictures, of which the second is displayed or not."""
    path = str(args["path"])
    image = '<draw:image xlink:href="{}"/>'
    good = f"<text:p><draw:frame>{image.format('Pictures/1.png')}</draw:frame></text:p>"
    second = image.format("Pictures/2.png")
    style = '<style:style style:name="G" style:family="graphic"><style:graphic-properties {}/></style:style>'
    files = {
        name: encoded(noise(number, (16, 12)))
        for number, name in enumerate(("Pictures/1.png", "Pictures/2.png", "Thumbnails/3.png"), 1)
    }
    frame = "<text:p><draw:frame {}>{}</draw:frame></text:p>"
    frames = (
        (another_way, "path with a leading `./`", frame.format("", image.format("./Pictures/2.png"))),
        (forged, "file outside the picture folder", frame.format("", image.format("Thumbnails/3.png"))),
        (forged, "missing file", frame.format("", image.format("Pictures/9.png"))),
        (
            forged,
            "in a comment",
            f"<text:p><office:annotation>{frame.format('', second)}</office:annotation></text:p>",
        ),
        (forged, "no height", frame.format('svg:height="0mm"', second)),
        (another_way, "half a millimetre high", frame.format('svg:height="0.5mm"', second)),
    )  # fmt: skip
    styles = (
        (forged, "transparent", 'draw:image-opacity="0%"'),
        (forged, "nearly transparent", 'draw:image-opacity="9%"'),
        (another_way, "semi-transparent", 'draw:image-opacity="50%"'),
        (forged, "turned white", 'draw:luminance="75%"'),
        (another_way, "brightened", 'draw:luminance="74%"'),
        (forged, "without contrast", 'draw:contrast="-75%"'),
        (another_way, "with less contrast", 'draw:contrast="-74%"'),
    )
    return (
        *(
            case(f"odt: second picture: {name}", at(path, _odt(good + xml, files=files)), **args)
            for case, name, xml in frames
        ),
        *(
            case(
                f"odt: second picture: {name}",
                at(
                    path,
                    _odt(
                        good + frame.format('draw:style-name="G"', second),
                        files=files,
                        automatic=style.format(xml),
                    ),
                ),
                **args,
            )
            for case, name, xml in styles
        ),
    )
