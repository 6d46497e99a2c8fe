"""Forged versions of the presentation, and legitimate ones that are created differently."""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import changed, encoded, noise, odf, pptx, unzipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.testing.case import Case
    from provisioning.protocols import Json
    from tests.evaluator_cases.document_cases import Make

_STYLES = (
    '<style:style style:name="H" style:family="text"><style:text-properties '
    'text:display="none"/></style:style><style:style style:name="T" style:family="text">'
    '<style:text-properties fo:font-size="1pt"/></style:style><style:style style:name="W" '
    'style:family="text"><style:text-properties fo:color="#ffffff"/></style:style><style:style '
    'style:name="O" style:family="text"><style:text-properties loext:opacity="0%"/></style:style>'
    '<style:style style:name="GO" style:family="graphic"><style:text-properties '
    'loext:opacity="0%"/></style:style>'
)
_GRAPHIC = '<style:style style:name="G" style:family="graphic"><style:graphic-properties {}/></style:style>'
_MASTERS = (
    "<office:automatic-styles><style:page-layout style:name='L'><style:page-layout-properties "
    "fo:page-width='200mm' fo:page-height='100mm'/></style:page-layout></office:automatic-styles>"
    "<office:master-styles><style:master-page style:name='M1' style:display-name='{}' "
    "style:page-layout-name='L'/><style:master-page style:name='Title_20_Only' "
    "style:page-layout-name='L'/></office:master-styles>"
)
_NOTES_BOX = "<presentation:notes>{}</presentation:notes>"


def _odp(*pages: str, master: str = "Plain", graphic: str = "") -> Make:
    """Return a function that creates an .odp of slides.

        Args:
    pages: XML of each slide.
            master: displayed name of the master page.
            graphic: properties of the graphic style G.
    """

    @cache
    def make() -> bytes:
        slides = (f"<draw:page draw:master-page-name='M1'>{page}</draw:page>" for page in pages)
        files = {"Pictures/1.png": encoded(noise(1))}
        styles = _MASTERS.format(master)
        return odf(
            "presentation",
            "".join(slides),
            automatic=_STYLES + _GRAPHIC.format(graphic),
            styles=styles,
            files=files,
        )

    return make


def _frame(content: str, attributes: str = "", size: str = "40mm") -> str:
    box = f"svg:x='140mm' svg:y='30mm' svg:width='{size}' svg:height='30mm'"
    return f"<draw:frame {attributes} {box}>{content}</draw:frame>"


def _moved(frame: str, x: str = "140mm", y: str = "30mm") -> str:
    return frame.replace("svg:x='140mm' svg:y='30mm'", f"svg:x='{x}' svg:y='{y}'")


def _box(text: str, attributes: str = "", style: str = "") -> str:
    inner = f"<text:span text:style-name='{style}'>{text}</text:span>" if style else text
    return _frame(f"<draw:text-box><text:p>{inner}</text:p></draw:text-box>", attributes)


def _pptx(*builders: Callable[[Any], object], layout: int = 5) -> Make:
    """Return a function that creates a .pptx; each builder fills one slide."""

    @cache
    def make() -> bytes:
        def build(deck: Any) -> None:
            for builder in builders:
                builder(deck.slides.add_slide(deck.slide_layouts[layout]))

        return pptx(build)

    return make


def _textbox(slide: Any, text: str, *, size_pt: float = 18, name: str = "Box") -> Any:
    from pptx.util import Pt

    box = slide.shapes.add_textbox(900_000, 900_000, 900_000, 900_000)
    box.name = name
    box.text_frame.text = text
    box.text_frame.paragraphs[0].runs[0].font.size = Pt(size_pt)
    return box


def _fill(run: Any, percent: int) -> None:
    """Fill a run with black at an opacity."""
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import nsdecls

    alpha = f"<a:srgbClr val='000000'><a:alpha val='{percent}000'/></a:srgbClr>"
    run._r.get_or_add_rPr().insert(
        0, parse_xml(f"<a:solidFill {nsdecls('a')}>{alpha}</a:solidFill>")
    )


def _hide(shape: Any) -> None:
    shape._element.xpath("./*/p:cNvPr")[0].set("hidden", "1")


def _entitled(text: str, *, is_hidden: bool = False, size_pt: float = 0) -> Callable[[Any], None]:
    def build(slide: Any) -> None:
        from pptx.util import Pt

        slide.shapes.title.text = text
        if size_pt:
            slide.shapes.title.text_frame.paragraphs[0].runs[0].font.size = Pt(size_pt)
        if is_hidden:
            _hide(slide.shapes.title)

    return build


def _unlisted() -> bytes:
    """Return a .pptx that stores two slides and lists one."""
    part = "ppt/presentation.xml"
    data = _pptx(_entitled("Hello"), _entitled("Bye"))()
    xml = unzipped(data)[part].decode()
    start = xml.rindex("<p:sldId ")
    return changed(data, {part: (xml[:start] + xml[xml.index("/>", start) + 2 :]).encode()})


def count_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of two slides."""
    path = str(args["path"])
    notes = _NOTES_BOX.format("<draw:page-thumbnail draw:page-number='2'/>")
    settings = "</draw:page><draw:page draw:master-page-name='M1' draw:id='x'>"
    return (
        forged("stored slide that is not listed", at(path, _unlisted), **args),
        forged("odp: two master pages", at(path, _odp(notes)), **args),
        another_way("without shapes of a layout", at(path, _pptx(str, str, layout=6)), **args),
        another_way("odp: with notes", at(path, _odp(notes + settings + notes)), **args),
    )


def title_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the title Hello."""
    path = str(args["path"])

    def named(slide: Any) -> None:
        _textbox(slide, "Hello", name="Title 1", size_pt=44)

    def split(slide: Any) -> None:
        slide.shapes.title.text = "Hel"
        slide.shapes.title.text_frame.paragraphs[0].add_run().text = "lo"

    title = "presentation:class='title'"
    return (
        forged("large text box with the name of the title", at(path, _pptx(named)), **args),
        forged("hidden title", at(path, _pptx(_entitled("Hello", is_hidden=True))), **args),
        forged("too small to read", at(path, _pptx(_entitled("Hello", size_pt=1))), **args),
        forged("odp: not displayed", at(path, _odp(_box("Hello", title, "H"))), **args),
        forged(
            "odp: left of the slide",
            at(path, _odp(_moved(_box("Hello", title), "-1000mm"))),
            **args,
        ),
        forged("odp: transparent", at(path, _odp(_box("Hello", title, "O"))), **args),
        forged(
            "odp: text box with the name of the title",
            at(path, _odp(_box("Hello", "draw:name='Title'"))),
            **args,
        ),
        another_way("split over two runs", at(path, _pptx(split)), **args),
        another_way("title layout", at(path, _pptx(_entitled("Hello"), layout=0)), **args),
        another_way(
            "odp: white, for dark slides", at(path, _odp(_box("Hello", title, "W"))), **args
        ),
    )


def line_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the line "two"."""
    path = str(args["path"])
    shape = "<draw:custom-shape svg:x='1mm' svg:y='1mm' svg:width='9mm' svg:height='9mm'>{}</draw:custom-shape>"
    listed = "<text:list><text:list-item><text:p>two</text:p></text:list-item></text:list>"

    def grouped(slide: Any) -> None:
        group = slide.shapes.add_group_shape()
        group.shapes.add_textbox(0, 0, 900_000, 900_000).text_frame.text = "two"

    def aside(slide: Any) -> None:
        _textbox(slide, "two").left = 90_000_000

    def transparent(slide: Any) -> None:
        run = _textbox(slide, "two").text_frame.paragraphs[0].runs[0]
        _fill(run, 0)

    def half(slide: Any) -> None:
        _fill(_textbox(slide, "two").text_frame.paragraphs[0].runs[0], 50)

    def bulleted(slide: Any) -> None:
        slide.placeholders[1].text = "one\ntwo"

    return (
        forged(
            "hidden text box", at(path, _pptx(lambda slide: _hide(_textbox(slide, "two")))), **args
        ),
        forged(
            "too small to read",
            at(path, _pptx(lambda slide: _textbox(slide, "two", size_pt=1))),
            **args,
        ),
        forged(
            "name of a shape",
            at(path, _pptx(lambda slide: _textbox(slide, "x", name="two"))),
            **args,
        ),
        forged("odp: not displayed", at(path, _odp(_box("two", style="H"))), **args),
        forged("odp: too small to read", at(path, _odp(_box("two", style="T"))), **args),
        forged("odp: transparent", at(path, _odp(_box("two", style="O"))), **args),
        forged(
            "odp: in a text box with transparent text",
            at(path, _odp(_box("two", "draw:style-name='GO'"))),
            **args,
        ),
        forged("odp: left of the slide", at(path, _odp(_moved(_box("two"), "-1000mm"))), **args),
        forged("odp: below the slide", at(path, _odp(_moved(_box("two"), y="1000mm"))), **args),
        forged("right of the slide", at(path, _pptx(aside)), **args),
        forged("transparent", at(path, _pptx(transparent)), **args),
        another_way("semi-transparent", at(path, _pptx(half)), **args),
        another_way("in a group", at(path, _pptx(grouped)), **args),
        another_way("bulleted line", at(path, _pptx(bulleted, layout=1)), **args),
        another_way(
            "odp: bulleted line",
            at(path, _odp(_frame(f"<draw:text-box>{listed}</draw:text-box>"))),
            **args,
        ),
        another_way(
            "odp: in a drawn shape", at(path, _odp(shape.format("<text:p>two</text:p>"))), **args
        ),
    )


def notes_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the notes "Smile"."""
    path = str(args["path"])
    notes = "presentation:class='notes'"

    def beside(slide: Any) -> None:
        box = _textbox(slide, "Smile")
        slide.notes_slide.shapes._spTree.append(box._element)

    def split(slide: Any) -> None:
        frame = slide.notes_slide.notes_text_frame
        frame.text = "Smi"
        frame.paragraphs[0].add_run().text = "le"

    def odp(text: str, attributes: str, style: str = "") -> Make:
        return _odp(_NOTES_BOX.format(_box(text, attributes, style)))

    return (
        forged("next to the notes", at(path, _pptx(beside)), **args),
        forged("odp: in the header", at(path, odp("Smile", "presentation:class='header'")), **args),
        forged(
            "odp: placeholder",
            at(path, odp("Smile", f"{notes} presentation:placeholder='true'")),
            **args,
        ),
        another_way("split over two runs", at(path, _pptx(split)), **args),
        another_way("odp: formatted", at(path, odp("Smile", notes, "W")), **args),
    )


def layout_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the layout Title Only of the second slide."""
    path = str(args["path"])

    def called_so(slide: Any) -> None:
        slide._element.cSld.set("name", "Title Only")

    first = {**args, "slide": 1, "layout": "Grün"}
    return (
        forged("only the slide has the name", at(path, _pptx(str, called_so, layout=6)), **args),
        forged("odp: unused master page", at(path, _odp("", "")), **args),
        another_way(
            "without the shapes of the layout", at(path, _pptx(str, _without_shapes)), **args
        ),
        another_way("odp: name with an umlaut", at(path, _odp("", master="Grün")), **first),
    )


def _without_shapes(slide: Any) -> None:
    for shape in list(slide.shapes):
        shape._element.getparent().remove(shape._element)


def picture_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the first picture, on the right."""
    path = str(args["path"])
    image = "<draw:image xlink:href='Pictures/1.png'/>"

    def drawn(slide: Any) -> Any:
        file = io.BytesIO(encoded(noise(1)))
        return slide.shapes.add_picture(file, 6_000_000, 2_000_000, 2_700_000, 2_000_000)

    def flat(slide: Any) -> None:
        drawn(slide).height = 0

    def cropped(slide: Any) -> None:
        drawn(slide).crop_left = 0.9

    def transparent(slide: Any) -> None:
        from pptx.oxml import parse_xml
        from pptx.oxml.ns import nsdecls

        blip = drawn(slide)._element.xpath(".//a:blip")[0]
        blip.append(parse_xml(f"<a:alphaModFix {nsdecls('a')} amt='0'/>"))

    def framed(graphic: str) -> Make:
        return _odp(_frame(image, "draw:style-name='G'"), graphic=graphic)

    def turned(slide: Any) -> None:
        drawn(slide).rotation = 0.0
        _textbox(slide, "over it")

    return (
        forged("hidden picture", at(path, _pptx(lambda slide: _hide(drawn(slide)))), **args),
        forged("picture without a size", at(path, _pptx(flat)), **args),
        forged("odp: picture without a size", at(path, _odp(_frame(image, size="0mm"))), **args),
        forged("cropped to a corner", at(path, _pptx(cropped)), **args),
        forged("transparent", at(path, _pptx(transparent)), **args),
        forged("odp: right of the slide", at(path, _odp(_moved(_frame(image), "900mm"))), **args),
        forged("odp: transparent", at(path, framed("draw:image-opacity='0%'")), **args),
        *(
            forged(f"odp: {name}", at(path, framed(graphic)), **args)
            for name, graphic in (
                ("nearly transparent", "draw:image-opacity='9%'"),
                ("turned black", "draw:luminance='-100%'"),
                ("turned grey", "draw:contrast='-100%'"),
                ("cropped by 2 mm", "fo:clip='rect(0mm 0mm 2mm 0mm)'"),
                ("cropped by 2 mm at the top", "fo:clip='rect(2mm 0mm 0mm 0mm)'"),
                ("cropped by 2 mm at the left", "fo:clip='rect(0mm, 0mm, 0mm, 2mm)'"),
                ("cropped, with spaces", "fo:clip=' rect(2mm 0mm 0mm 0mm) '"),
            )
        ),
        *(
            another_way(f"odp: {name}", at(path, framed(graphic)), **args)
            for name, graphic in (
                ("semi-transparent", "draw:image-opacity='50%'"),
                ("with more contrast", "draw:contrast='70%'"),
                ("cropped by 1 mm", "fo:clip='rect(1mm 1mm 1mm 1mm)'"),
                ("not cropped", "fo:clip='auto'"),
            )
        ),
        forged("odp: turned white", at(path, framed("draw:luminance='100%'")), **args),
        forged(
            "odp: cropped to a corner",
            at(path, framed("fo:clip='rect(0cm, 5.9cm, 3.9cm, 0cm)'")),
            **args,
        ),
        another_way(
            "odp: slightly brighter, not cropped",
            at(path, framed("draw:luminance='10%' fo:clip='rect(0cm, 0cm, 0cm, 0cm)'")),
            **args,
        ),
        forged("odp: stored, but not displayed", at(path, _odp(_box("cat"))), **args),
        another_way("under a text box", at(path, _pptx(turned)), **args),
        another_way("odp: in a group", at(path, _odp(f"<draw:g>{_frame(image)}</draw:g>")), **args),
    )
