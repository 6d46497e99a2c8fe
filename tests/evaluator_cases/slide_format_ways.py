"""Presentations as other programs write them, for each element and attribute that the readers support."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import encoded, noise, odf, pptx

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.testing.case import Case
    from provisioning.protocols import Json

_BOX = "svg:x='10mm' svg:y='10mm' svg:width='40mm' svg:height='20mm'"
_MASTERS = (
    "<office:automatic-styles><style:page-layout style:name='L'><style:header-style/>"
    "<style:page-layout-properties fo:page-width='200mm' fo:page-height='100mm'/>"
    "</style:page-layout></office:automatic-styles><office:master-styles>"
    "<style:master-page style:name='M1' style:page-layout-name='L'/></office:master-styles>"
)
_SHAPES = ("draw:frame", "draw:custom-shape", "draw:rect", "draw:ellipse", "draw:line")
_STYLE = (
    "<style:style style:name='S' style:family='{}'>"
    "<style:text-properties loext:opacity='{}'/></style:style>"
)


def _odp(page: str, *, master: str = "M1", layers: str = "", **more: Any) -> Any:
    """Return a function that creates an .odp of a slide, with a picture ``Pictures/1.png``.

    Args:
        page: content of the slide.
        master: name of its master page.
        layers: set of layers of all slides.
        more: arguments of `odf`.
    """
    body = f"<draw:page draw:master-page-name='{master}'>{page}</draw:page>"
    files = {"Pictures/1.png": encoded(noise(1))}
    styles = _MASTERS.replace("<office:master-styles>", f"<office:master-styles>{layers}")
    return partial(odf, "presentation", body, styles=styles, files=files, **more)


def _shape(tag: str, text: str, more: str = "") -> str:
    inner = f"<draw:text-box>{text}</draw:text-box>" if tag == "draw:frame" else text
    return f"<{tag} {_BOX} {more}>{inner}</{tag}>"


def _pptx(build: Callable[[Any], object], layout: int = 5) -> Any:
    """Return a function that creates a .pptx of a slide that a function builds."""
    return partial(pptx, lambda deck: build(deck.slides.add_slide(deck.slide_layouts[layout])))


def _runs(slide: Any, *texts: str) -> list[Any]:
    """Add a box with a paragraph of these runs."""
    box = slide.shapes.add_textbox(900_000, 900_000, 900_000, 900_000)
    runs = [box.text_frame.paragraphs[0].add_run() for _ in texts]
    for run, text in zip(runs, texts, strict=True):
        run.text = text
    return runs


def _ink(run: Any, xml: str) -> None:
    """Set the fill of a run, such as ``<a:noFill/>``."""
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import nsdecls

    run._r.get_or_add_rPr().insert(0, parse_xml(xml.replace(">", f" {nsdecls('a')}>", 1)))


def drawn_line_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the line "two"."""
    path = str(args["path"])
    line = "<text:p>two</text:p>"
    styled = _shape("draw:frame", line, "presentation:style-name='S'")

    def changed(*changes: str) -> Any:
        inner = "".join(f"<a:{change}/>" for change in changes)
        fill = f"<a:solidFill><a:srgbClr val='000000'>{inner}</a:srgbClr></a:solidFill>"
        return _pptx(lambda slide: _ink(_runs(slide, "two")[0], fill))

    def opaque(alpha: int) -> Any:
        return changed(f"alpha val='{alpha}'")

    def sized(slide: Any, points: float) -> None:
        from pptx.util import Pt

        _runs(slide, "two")[0].font.size = Pt(points)

    def with_a_dot(slide: Any) -> None:
        from pptx.util import Pt

        _runs(slide, "tw", "x", "o")[1].font.size = Pt(1)

    def broken(slide: Any) -> None:
        _runs(slide, "x")
        slide.shapes[-1].text_frame.text = "one\vtwo\vthree"

    return (
        *(
            another_way(f"odp: in {tag}", at(path, _odp(_shape(tag, line))), **args)
            for tag in _SHAPES
        ),
        another_way(
            "odp: heading", at(path, _odp(_shape("draw:rect", "<text:h>two</text:h>"))), **args
        ),
        another_way(
            "odp: last of three paragraphs",
            at(path, _odp(_shape("draw:rect", "<text:p>one</text:p><text:p/>" + line))),
            **args,
        ),
        forged(
            "odp: transparent by the placeholder's style",
            at(path, _odp(styled, automatic=_STYLE.format("presentation", "0%"))),
            **args,
        ),
        another_way(
            "odp: opaque by the placeholder's style",
            at(path, _odp(styled, automatic=_STYLE.format("presentation", "100%"))),
            **args,
        ),
        forged("nearly transparent", at(path, opaque(9411)), **args),
        another_way("barely opaque", at(path, opaque(9412)), **args),
        forged("opacity multiplied by zero", at(path, changed("alphaMod val='0'")), **args),
        forged("opacity reduced by all of it", at(path, changed("alphaOff val='-100000'")), **args),
        forged(
            "opacity multiplied twice",
            at(path, changed("alpha val='30000'", "alphaMod val='30000'")),
            **args,
        ),
        another_way(
            "transparent, then more opaque",
            at(path, changed("alpha val='0'", "alphaOff val='50000'", "lumMod val='0'")),
            **args,
        ),
        another_way(
            "opacity halved", at(path, changed("alphaMod val='50000'")), **args
        ),
        forged("without a fill", at(path, _pptx(
            lambda slide: _ink(_runs(slide, "two")[0], "<a:noFill></a:noFill>"))), **args),
        forged("1.9 pt", at(path, _pptx(lambda slide: sized(slide, 1.9))), **args),
        another_way("2 pt", at(path, _pptx(lambda slide: sized(slide, 2))), **args),
        another_way("around a character of 1 pt", at(path, _pptx(with_a_dot)), **args),
        another_way("between line breaks", at(path, _pptx(broken)), **args),
    )  # fmt: skip


def noted_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of notes of two lines, and of a line within them."""
    path = str(args["path"])
    box = "<draw:frame presentation:class='notes'><draw:text-box>{}</draw:text-box></draw:frame>"
    notes = "<presentation:notes>{}</presentation:notes>"
    both = {**args, "text": "one\ntwo"}
    lines = ("<text:p>one</text:p>", "<text:h>two</text:h>")
    return (
        another_way(
            "odp: paragraph and heading",
            at(path, _odp(notes.format(box.format("".join(lines))))),
            **both,
        ),
        another_way(
            "odp: two text boxes",
            at(path, _odp(notes.format("".join(map(box.format, lines))))),
            **both,
        ),
    )


def noteless_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return a case with the title Hello on a slide whose notes page has no text box."""

    def build(slide: Any) -> None:
        slide.shapes.title.text = "Hello"
        for shape in list(slide.notes_slide.shapes):
            shape._element.getparent().remove(shape._element)

    return (another_way("notes without a text box", at(str(args["path"]), _pptx(build)), **args),)


def master_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return a case with the layout of a slide whose master page is missing."""
    path = str(args["path"])
    named = {**args, "slide": 1, "layout": "Not there"}
    missing = at(path, _odp("", master="Not_20_there"))
    return (another_way("odp: missing master page", missing, **named),)


def edge_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return cases of the first picture at the bounds of positions, and with barely allowed changes."""
    path = str(args["path"])
    image = "<draw:frame {}><draw:image xlink:href='Pictures/1.png'/></draw:frame>"

    def placed(x: float, y: float, master: str) -> Any:
        box = f"svg:x='{x}mm' svg:y='{y}mm' svg:width='40mm' svg:height='30mm'"
        return at(path, _odp(image.format(box), master=master))

    def drawn(slide: Any) -> Any:
        file = io.BytesIO(encoded(noise(1)))
        return slide.shapes.add_picture(file, 6_000_000, 2_000_000, 2_700_000, 2_000_000)

    def changed(name: str, amount: int) -> Any:
        def build(slide: Any) -> None:
            from pptx.oxml import parse_xml
            from pptx.oxml.ns import nsdecls

            blip = drawn(slide)._element.xpath(".//a:blip")[0]
            change = (
                f"{name}='{amount}'"
                if name == "amt"
                else f"bright='0' contrast='0' {name}='{amount}'"
            )
            if name != "amt":
                change = change.replace(f"{name}='0' ", "", 1)
            tag = "alphaModFix" if name == "amt" else "lum"
            blip.append(parse_xml(f"<a:{tag} {nsdecls('a')} {change}/>"))

        return at(path, _pptx(build))

    def cropped(side: str, share: float) -> Any:
        return at(path, _pptx(lambda slide: setattr(drawn(slide), f"crop_{side}", share)))

    right = {**args, "place": "right"}
    return (
        another_way("odp: right, on a layout with a header", placed(100.1, 30, "M1"), **right),
        another_way("odp: right, without a master page", placed(148.3, 90, "M9"), **right),
        another_way("odp: at the bottom, without a master page", placed(90, 111.3, "M9"),
            **{**args, "place": "bottom"}),
        another_way("75 % more brightness", changed("bright", 75_000), **right),
        forged("76 % more brightness", changed("bright", 76_000), **right),
        another_way("75 % less contrast", changed("contrast", -75_000), **right),
        forged("76 % less contrast", changed("contrast", -76_000), **right),
        another_way("barely opaque", changed("amt", 9412), **right),
        forged("nearly transparent", changed("amt", 9411), **right),
        *(
            case(f"cropped by {share} at the {side}", cropped(side, share), **right)
            for side in ("left", "right", "top", "bottom")
            for case, share in ((another_way, 0.05), (forged, 0.06))
        ),
    )  # fmt: skip
