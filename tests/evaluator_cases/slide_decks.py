"""Presentations for test cases, by python-pptx and by LibreOffice, and the cases common to all."""

from __future__ import annotations

import io
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from evaluators.loading.suite import BUILTIN
from evaluators.testing.case import Case, CaseTable, corrupt, empty, hostile, missing, nothing
from evaluators.testing.machine import MachineFixture
from tests.evaluator_cases import file_builders
from tests.evaluator_cases.document_cases import at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Json
    from tests.evaluator_cases.document_cases import Make

PATH = "~/Documents/talk.pptx"
FAIR = BUILTIN / "documents" / "data" / "fair.odp"
"""A presentation of five slides that LibreOffice saved."""
_NAMESPACE = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
Build = Any
"""A function that fills a slide; python-pptx has no types."""


def deck(*builders: Build, layout: int = 5, size_cm: tuple[float, float] | None = None) -> Make:
    """Return a function that creates a .pptx; each builder fills one slide."""

    @cache
    def make() -> bytes:
        def build(document: Any) -> None:
            from pptx.util import Cm

            if size_cm:
                document.slide_width, document.slide_height = map(Cm, size_cm)
            for builder in builders:
                builder(document.slides.add_slide(document.slide_layouts[layout]))

        return file_builders.pptx(build)

    return make


def fair(*replacements: tuple[str, str]) -> Make:
    """Return a function that creates LibreOffice's presentation with parts of its XML replaced."""

    @cache
    def make() -> bytes:
        data = FAIR.read_bytes()
        content = file_builders.unzipped(data)["content.xml"].decode()
        for old, new in replacements:
            assert old in content
            content = content.replace(old, new)
        return file_builders.changed(data, {"content.xml": content.encode()})

    return make


def on(*builders: Build) -> Build:
    """Return a builder that applies builders to one slide."""
    return lambda slide: [build(slide) for build in builders]


def title(text: str, **font: Any) -> Build:
    """Return a builder that writes the slide's title."""
    return lambda slide: _write(slide.shapes.title.text_frame, text, font)


def body(text: str, level: int = 0) -> Build:
    """Return a builder that writes the slide's second placeholder."""

    def build(slide: Any) -> None:
        frame = slide.placeholders[1].text_frame
        frame.text = text
        for paragraph in frame.paragraphs:
            paragraph.level = level

    return build


def box(
    text: str,
    place: tuple[float, float, float, float] = (3, 8, 12, 2),
    name: str = "",
    **font: Any,
) -> Build:
    """Return a builder that adds a text box.

    Args:
        text: its text.
        place: left, top, width and height in cm.
        name: its name.
        font: formatting of all runs (``face``, ``size`` in pt, ``color`` as ``RRGGBB`` ...), and
            ``alignment``.
    """

    def build(slide: Any) -> None:
        from pptx.util import Cm

        shape = slide.shapes.add_textbox(*map(Cm, place))
        shape.name = name or shape.name
        _write(shape.text_frame, text, font)

    return build


def parted(*parts: tuple[str, Mapping[str, Any]]) -> Build:
    """Return a builder that adds a text box of one paragraph with differently formatted parts."""

    def build(slide: Any) -> None:
        from pptx.util import Cm

        paragraph = slide.shapes.add_textbox(*map(Cm, (3, 8, 18, 2))).text_frame.paragraphs[0]
        for text, font in parts:
            run = paragraph.add_run()
            run.text = text
            _format(run, font)

    return build


def rectangle(place: tuple[float, float, float, float], name: str = "", text: str = "") -> Build:
    """Return a builder that adds a filled rectangle; the place is in cm."""

    def build(slide: Any) -> None:
        from pptx.util import Cm

        shape = slide.shapes.add_shape(1, *map(Cm, place))
        shape.name = name or shape.name
        shape.text_frame.text = text

    return build


def picture(pixels: Any, place: tuple[float, float, float, float], form: str = "PNG") -> Build:
    """Return a builder that adds a picture; the place is in cm."""

    def build(slide: Any) -> None:
        from pptx.util import Cm

        file = io.BytesIO(file_builders.encoded(pixels, form))
        slide.shapes.add_picture(file, *map(Cm, place))

    return build


def transparent(percent: int) -> Build:
    """Return a builder that makes the last shape, a picture, transparent."""

    def build(slide: Any) -> None:
        from pptx.oxml import parse_xml
        from pptx.oxml.ns import nsdecls

        opacity = f'<a:alphaModFix {nsdecls("a")} amt="{1000 * (100 - percent)}"/>'
        slide.shapes[-1]._element.find(".//{*}blip").append(parse_xml(opacity))

    return build


def mirrored(slide: Any) -> None:
    """Mirror the last shape."""
    slide.shapes[-1]._element.find(".//{*}xfrm").set("flipH", "1")


def cropped(share: float) -> Build:
    """Return a builder that cuts a part of the last shape, a picture, on the right."""
    return lambda slide: setattr(slide.shapes[-1], "crop_right", share)


def odp_with(pixels: Any, place: tuple[float, float, float, float]) -> Make:
    """Return a function that creates an .odp with a picture; the place is in cm."""

    @cache
    def make() -> bytes:
        left, top, width, height = place
        body = (
            '<draw:page draw:name="page" draw:master-page-name="Default">'
            f'<draw:frame svg:x="{left}cm" svg:y="{top}cm" svg:width="{width}cm" svg:height="{height}cm">'
            '<draw:image xlink:href="Pictures/page.png"/></draw:frame></draw:page>'
        )
        pictures = {"Pictures/page.png": file_builders.encoded(pixels)}
        return file_builders.odf("presentation", body, files=pictures)

    return make


def layered(display: str, shape: str = "") -> Make:
    """Return a function that creates LibreOffice's presentation with a layer for screen or printer.

    Args:
        display: what the layer is for.
        shape: XML of a shape that is added to each slide and its notes; empty to put all shapes in the layer.
    """

    @cache
    def make() -> bytes:
        members = file_builders.unzipped(FAIR.read_bytes())
        layer = f'<draw:layer-set><draw:layer draw:name="L" draw:display="{display}"/>'
        styles = members["styles.xml"].decode().replace("<draw:layer-set>", layer)
        content = members["content.xml"].decode()
        if not shape:
            content = content.replace('draw:layer="layout"', 'draw:layer="L"')
        for end in ("</presentation:notes>", "</draw:page>") if shape else ():
            content = content.replace(end, f"{shape}{end}")
        changes = {"styles.xml": styles.encode(), "content.xml": content.encode()}
        assert all(changes[name] != members[name] for name in changes)
        return file_builders.changed(FAIR.read_bytes(), changes)

    return make


def veil(place: tuple[float, float, float, float]) -> Build:
    """Return a builder that adds a blue rectangle of half transparency; the place is in cm."""

    def build(slide: Any) -> None:
        from pptx.oxml import parse_xml
        from pptx.oxml.ns import nsdecls
        from pptx.util import Cm

        shape = slide.shapes.add_shape(1, *map(Cm, place))
        shape.fill.solid()
        shape.fill.fore_color.rgb = _colour("0000FF")
        alpha = parse_xml(f'<a:alpha {nsdecls("a")} val="50000"/>')
        shape.fill._xPr.solidFill.find(".//{*}srgbClr").append(alpha)

    return build


def notes(text: str, left_cm: float | None = None, **font: Any) -> Build:
    """Return a builder that writes the speaker notes; `left_cm` is the place of their frame."""

    def build(slide: Any) -> None:
        from pptx.util import Cm

        _write(slide.notes_slide.notes_text_frame, text, font)
        if left_cm is not None:
            slide.notes_slide.notes_placeholder.left = Cm(left_cm)

    return build


def background(colour: str) -> Build:
    """Return a builder that fills the slide's background."""

    def build(slide: Any) -> None:
        slide.background.fill.solid()
        slide.background.fill.fore_color.rgb = _colour(colour)

    return build


def hide(slide: Any) -> None:
    """Leave the slide out of the show."""
    slide._element.set("show", "0")


def shrink(slide: Any) -> None:
    """Let the text of the last shape shrink to fit its shape."""
    from pptx.enum.text import MSO_AUTO_SIZE

    slide.shapes[-1].text_frame.auto_size = MSO_AUTO_SIZE.TEXT_TO_FIT_SHAPE


def transition(xml: str) -> Build:
    """Return a builder that gives the slide a transition, such as ``<p:dissolve/>``."""

    def build(slide: Any) -> None:
        from pptx.oxml import parse_xml
        from pptx.oxml.ns import nsdecls

        element = parse_xml(f"<p:transition {nsdecls('p')}>{xml}</p:transition>")
        slide._element.insert(2, element)

    return build


def animated(number: int, *, is_exit: bool, paragraph: int | None = None) -> Build:
    """Return a builder that lets a shape appear or disappear at a click.

    Args:
        number: of the shape, from 0.
        is_exit: whether it disappears.
        paragraph: number of its paragraph that does; None for the shape.
    """
    part = (
        "" if paragraph is None else f'<p:txEl><p:pRg st="{paragraph}" end="{paragraph}"/></p:txEl>'
    )

    def build(slide: Any) -> None:
        from pptx.oxml import parse_xml

        target = (
            f'<p:tgtEl><p:spTgt spid="{slide.shapes[number].shape_id}">{part}</p:spTgt></p:tgtEl>'
        )
        kind, value = ("exit", "hidden") if is_exit else ("entr", "visible")
        now = '<p:stCondLst><p:cond delay="{}"/></p:stCondLst>'
        effect = (
            f'<p:set><p:cBhvr><p:cTn id="6" dur="1" fill="hold">{now.format(0)}</p:cTn>{target}<p:attrNameLst>'
            "<p:attrName>style.visibility</p:attrName></p:attrNameLst></p:cBhvr>"
            f'<p:to><p:strVal val="{value}"/></p:to></p:set>'
        )
        for attributes in (
            f'id="5" presetID="1" presetClass="{kind}" presetSubtype="0" fill="hold" grpId="0" nodeType="clickEffect"',
            'id="4" fill="hold"',
            'id="3" fill="hold"',
        ):
            delay = "indefinite" if 'id="3"' in attributes else "0"
            children = f"{now.format(delay)}<p:childTnLst>{effect}</p:childTnLst>"
            effect = f"<p:par><p:cTn {attributes}>{children}</p:cTn></p:par>"
        effect = (
            '<p:seq concurrent="1" nextAc="seek"><p:cTn id="2" dur="indefinite" nodeType="mainSeq"><p:childTnLst>'
            f"{effect}</p:childTnLst></p:cTn></p:seq>"
        )
        slide._element.append(
            parse_xml(
                f'<p:timing {_NAMESPACE}><p:tnLst><p:par><p:cTn id="1" dur="indefinite" restart="never"'
                f' nodeType="tmRoot"><p:childTnLst>{effect}</p:childTnLst></p:cTn></p:par></p:tnLst></p:timing>'
            )
        )

    return build


def table(
    evaluator: Any, good: Make, args: Mapping[str, Json], *cases: Case, **more: Any
) -> CaseTable:
    """Return the cases of an evaluator, with those that are common to all.

    Args:
        evaluator: the evaluator.
        good: a presentation that meets it.
        args: its arguments, with `PATH`.
        cases: its own cases.
        more: further fields of the table.
    """
    path = str(args["path"])

    def link(fixture: MachineFixture) -> None:
        fixture.write("/srv/out", good())
        fixture.link(path, "/srv/out")

    common = (
        missing("no file", nothing, **args),
        corrupt("half of the file", at(path, partial(_half, good)), **args),
        corrupt("plain text file", at(path, lambda: b"hello " * 99), **args),
        empty("empty file", at(path, lambda: b""), **args),
        hostile("link to the matching file", link, **args),
    )
    return CaseTable(evaluator, MachineFixture, (*cases, *common), **more)


@cache
def _half(make: Make) -> bytes:
    data = make()
    return data[: len(data) // 2]


def _write(frame: Any, text: str, font: Mapping[str, Any]) -> None:
    frame.text = text
    for paragraph in frame.paragraphs:
        if "alignment" in font:
            from pptx.enum.text import PP_ALIGN

            paragraph.alignment = getattr(PP_ALIGN, font["alignment"])
        for run in paragraph.runs:
            _format(run, font)


def _format(run: Any, font: Mapping[str, Any]) -> None:
    from pptx.util import Pt

    for key in ("bold", "italic", "underline"):
        if key in font:
            setattr(run.font, key, font[key])
    if "face" in font:
        run.font.name = font["face"]
    if "size" in font:
        run.font.size = Pt(font["size"])
    if "color" in font:
        run.font.color.rgb = _colour(font["color"])
    if "strike" in font:
        run._r.get_or_add_rPr().set("strike", "sngStrike")


def _colour(colour: str) -> Any:
    from pptx.dml.color import RGBColor

    return RGBColor(*bytes.fromhex(colour))  # type: ignore[no-untyped-call]
