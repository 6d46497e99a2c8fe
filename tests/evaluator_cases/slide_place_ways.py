"""Presentations that position, select and modify shapes: groups, transformations, alternatives and effects."""

from __future__ import annotations

import io
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.file_builders import encoded, noise
from tests.evaluator_cases.slide_format_ways import _odp, _pptx

if TYPE_CHECKING:
    from evaluators.testing.case import Case
    from provisioning.protocols import Json


def _odp_frame(content: str, frame: str, group: str = "{}", **more: Any) -> Any:
    """Return a function that creates an .odp of a slide with a frame, optionally in a group."""
    return _odp(group.format(f"<draw:frame {frame}>{content}</draw:frame>"), **more)


def _grouped(
    text: str,
    *,
    inner: int,
    scale: float = 1.0,
    shift: int = 0,
    depth: int = 1,
    origin: tuple[int, int] = (0, 0),
) -> Any:
    """Return a builder of a box in groups; the box is at ``(inner - origin) * scale + shift``.

    Args:
        text: text in the box.
        inner: left and upper edge in EMU, in the group's coordinates.
        scale: scale of the group.
        shift: shift of the group.
        depth: number of nested groups; the outer ones have the slide's coordinates.
        origin: left and upper edge of the group, in its own coordinates.
    """

    def build(slide: Any) -> Any:
        shapes, groups = slide.shapes, []
        for _ in range(depth):
            groups.append(shapes.add_group_shape())
            shapes = groups[-1].shapes
        shapes.add_textbox(inner, inner, 900_000, 900_000).text_frame.text = text
        place = groups[-1]._element.grpSpPr.get_or_add_xfrm()
        for name, kinds, length in (
            ("off", ("x", "y"), (shift, shift)),
            ("ext", ("cx", "cy"), (round(900_000 * scale),) * 2),
            ("chOff", ("x", "y"), origin),
            ("chExt", ("cx", "cy"), (900_000, 900_000)),
        ):
            for kind, number in zip(kinds, length, strict=True):
                place.xpath(f"./a:{name}")[0].set(kind, str(number))
        return groups

    return build


def _hidden(number: int, depth: int = 1) -> Any:
    """Return a builder of a box in nested groups, one of which is hidden."""

    def build(slide: Any) -> None:
        groups = _grouped("two", inner=900_000, depth=depth)(slide)
        groups[number]._element.xpath("./*/p:cNvPr")[0].set("hidden", "true")

    return build


def _without(*names: str, inner: int = 900_000) -> Any:
    """Return a builder of a box in a group whose transform lacks elements; `xfrm` for the whole transform."""

    def build(slide: Any) -> None:
        group = _grouped("two", inner=inner)(slide)[0]._element
        for name in names:
            element = group.xpath(f"./p:grpSpPr//a:{name}")[0]
            element.getparent().remove(element)

    return build


def placed_line_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the line "two" in groups, and at calculated positions."""
    path = str(args["path"])
    text = "<draw:text-box><text:p>two</text:p></draw:text-box>"
    size = "svg:width='40mm' svg:height='20mm'"
    group = "<draw:g {}>{{}}</draw:g>"

    def moved(steps: str, place: str = "") -> Any:
        return at(path, _odp_frame(text, f"{size} {place} draw:transform='{steps}'"))

    def shown(name: str, place: str = "svg:x='10mm' svg:y='10mm'", outer: str = "{}") -> Any:
        return at(path, _odp_frame(text, f"{size} {place} {name}", outer))

    def after_hidden(slide: Any) -> None:
        box = slide.shapes.add_textbox(0, 0, 900_000, 900_000)
        box._element.xpath("./*/p:cNvPr")[0].set("hidden", "1")
        slide.shapes.add_textbox(0, 0, 900_000, 900_000).text_frame.text = "two"

    far = 90_000_000
    return (
        *(
            forged(name, at(path, _pptx(build)), **args)
            for name, build in (
                ("in a hidden group", _hidden(0)),
                ("in a group within a hidden group", _hidden(0, 2)),
                ("in a hidden group within a group", _hidden(1, 2)),
                ("in a group off the slide", _grouped("two", inner=0, shift=far)),
                ("in a group scaled off the slide", _grouped("two", inner=900_000, scale=90)),
                ("in a group left of the slide", _grouped("two", inner=0, shift=-far)),
                ("off the slide in nested groups", _grouped("two", inner=900_000, shift=far, depth=3)),
                ("off the slide, in a group without a position", _without("xfrm", inner=far)),
            )
        ),
        *(
            another_way(name, at(path, _pptx(build)), **args)
            for name, build in (
                ("in a moved group", _grouped("two", inner=far, shift=1_000_000 - far)),
                ("in a scaled group", _grouped("two", inner=far, scale=0.01)),
                ("in a group scaled from its corner", _grouped(
                    "two", inner=far, scale=0.5, shift=900_000, origin=(far, far))),
                ("after a hidden box", after_hidden),
                ("in nested groups", _grouped("two", inner=far, shift=1_000_000 - far, depth=3)),
                ("in a group without a position", _without("xfrm")),
                ("in a group without an inner size", _without("chExt")),
                ("in a group without an inner position", _without("chOff")),
            )
        ),
        *(
            forged(f"odp: {name}", state, **args)
            for name, state in (
                ("frame that is not displayed", shown("draw:display='none'")),
                ("only printed", shown("draw:display='printer'")),
                ("in a group that is not displayed", shown("", outer=group.format("draw:display='none'"))),
                ("prompt of a placeholder", shown("presentation:placeholder='true'")),
                ("moved off the slide", moved("translate (240mm 10mm)")),
                ("moved off the slide in steps", moved("translate (140mm 0mm) translate(100mm, 10mm)")),
                ("moved off the slide from its position", moved("translate (150mm 0mm)", "svg:x='90mm'")),
                ("rotated off the slide", moved("rotate (1.5708) translate (10mm 0mm)")),
                ("rotated off the slide to the left", moved("rotate (3.1416) translate (10mm 50mm)")),
                ("enlarged beyond the slide", moved("translate (50mm 10mm) scale (5)")),
                ("enlarged downwards beyond the slide", moved("translate (10mm 50mm) scale (1 5)")),
                ("moved off the slide by a matrix", moved("matrix (1 0 0 1 240mm 10mm)")),
            )
        ),
        *(
            another_way(f"odp: {name}", state, **args)
            for name, state in (
                ("displayed always", shown("draw:display='always'")),
                ("displayed on the screen", shown("draw:display='screen'")),
                ("in a group", shown("", outer=group.format("draw:display='screen'"))),
                ("placeholder that is not a prompt", shown("presentation:placeholder='false'")),
                ("moved onto the slide", moved("translate (100mm 50mm)", "svg:x='-90mm' svg:y='-40mm'")),
                ("moved, with spaces", moved("translate ( 10mm , 10mm )")),
                ("moved horizontally", moved("translate (100mm)", "svg:x='-90mm'")),
                ("rotated onto the slide", moved("rotate (1.5708) translate (10mm 90mm)")),
                ("rotated onto the slide to the right", moved("rotate (-1.5708) translate (190mm 10mm)")),
                ("rotated by 180 degrees onto the slide", moved("rotate (3.1416) translate (190mm 90mm)")),
                ("scaled down onto the slide", moved("translate (1000mm 500mm) scale (0.1)")),
                ("scaled down in one direction", moved("translate (1000mm 50mm) scale (0.1 1)")),
                ("slightly slanted", moved("skewX (0.1) translate (10mm 10mm)")),
                ("moved by a matrix", moved("matrix(1 0 0 1 10mm 10mm)", "svg:x='10mm'")),
            )
        ),
    )  # fmt: skip


_CHOICES = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_EXTENSIONS = {
    "a14": "http://schemas.microsoft.com/office/drawing/2010/main",
    "p14": "http://schemas.microsoft.com/office/powerpoint/2010/main",
    "p15": "http://schemas.microsoft.com/office/powerpoint/2012/main",
    "v": "urn:schemas-microsoft-com:vml",
    "new": "http://schemas.microsoft.com/office/drawing/2099/main",
}


def _added(parent: Any, name: str, **attributes: str) -> Any:
    """Add an element of alternate content."""
    child = parent.makeelement(f"{{{_CHOICES}}}{name}", attributes, _EXTENSIONS)
    parent.append(child)
    return child


def _alternatives(*branches: tuple[str, str], grouped: bool = False, nested: bool = False) -> Any:
    """Return a builder of a box with alternatives: what each requires, and its text.

    Args:
        branches: requirement and text of each branch; the fallback has an empty requirement.
        grouped: whether the alternatives are in a group.
        nested: whether the alternatives are a branch of a different pair.
    """

    def build(slide: Any) -> None:
        box = slide.shapes.add_textbox(900_000, 900_000, 900_000, 900_000)
        tree = box._element.getparent()
        tree.remove(box._element)
        if grouped:
            tree = slide.shapes.add_group_shape()._element
        root = _added(tree, "AlternateContent")
        if nested:
            root = _added(_added(root, "Choice", Requires="a14"), "AlternateContent")
        for requires, text in branches:
            box.text_frame.text = text
            branch = (
                _added(root, "Choice", Requires=requires) if requires else _added(root, "Fallback")
            )
            branch.append(deepcopy(box._element))

    return build


def chosen_line_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the line "two" in content that only some programs support."""
    path = str(args["path"])
    ways = {
        **{
            f"in the alternative for {name}": _alternatives((name, "two"), ("", "x"))
            for name in _EXTENSIONS
            if name != "new"
        },
        "in the fallback of an unsupported choice": _alternatives(("new", "x"), ("", "two")),
        "in the second choice": _alternatives(("new", "x"), ("a14", "two"), ("", "y")),
        "in the first choice": _alternatives(("a14", "two"), ("p14", "x")),
        "in a choice with all requirements": _alternatives(("a14 p14 p15 v", "two"), ("", "x")),
        "in a choice with two requirements": _alternatives(("a14 p14", "two"), ("", "x")),
        "in a choice in a group": _alternatives(("a14", "two"), grouped=True),
        "in a nested choice": _alternatives(("new", "x"), ("", "two"), nested=True),
    }
    forgeries = {
        "in an unsupported choice": _alternatives(("new", "two"), ("", "x")),
        "in a partly supported choice": _alternatives(("a14 new", "two"), ("", "x")),
        "in the fallback of a supported choice": _alternatives(("a14", "x"), ("", "two")),
        "in a later choice": _alternatives(("a14", "x"), ("p14", "two")),
        "in a choice with an unknown name": _alternatives(("none", "two")),
    }
    return (
        *(another_way(name, at(path, _pptx(build)), **args) for name, build in ways.items()),
        *(forged(name, at(path, _pptx(build)), **args) for name, build in forgeries.items()),
    )


def effect_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return cases of the first picture with effects, in groups, rotated, and tiny."""
    path = str(args["path"])
    image = "<draw:image xlink:href='Pictures/1.png'/>"
    right = {**args, "place": "right"}
    box = "svg:x='140mm' svg:y='30mm' svg:width='40mm' svg:height='30mm'"
    style = "<style:style style:name='{}' style:family='{}' {}><style:graphic-properties {}/></style:style>"

    def drawn(shapes: Any, left: int = 6_000_000, width: int = 2_700_000) -> Any:
        return shapes.add_picture(io.BytesIO(encoded(noise(1))), left, 2_000_000, width, 2_000_000)

    def changed(effect: str) -> Any:
        def build(slide: Any) -> None:
            from pptx.oxml import parse_xml
            from pptx.oxml.ns import nsdecls

            blip = drawn(slide.shapes)._element.xpath(".//a:blip")[0]
            blip.append(parse_xml(effect.replace(" ", f" {nsdecls('a')} ", 1)))

        return at(path, _pptx(build))

    def narrow(width: int) -> Any:
        return at(path, _pptx(lambda slide: drawn(slide.shapes, width=width)))

    def grouped(inner: int, shift: int) -> Any:
        def build(slide: Any) -> None:
            group = slide.shapes.add_group_shape()
            drawn(group.shapes, inner)
            group.left = shift

        return at(path, _pptx(build))

    def framed(properties: str, family: str = "graphic", base: str = "") -> Any:
        styles = style.format("S", family, "style:parent-style-name='B'", properties)
        styles += style.format("B", family, "", base)
        kind = "draw" if family == "graphic" else family
        return at(path, _odp_frame(image, f"{box} {kind}:style-name='S'", automatic=styles))

    def turned(steps: str) -> Any:
        size = "svg:width='40mm' svg:height='30mm'"
        return at(path, _odp_frame(image, f"{size} draw:transform='{steps}'"))

    black = "<a:srgbClr val='000000'/>"
    return (
        *(
            forged(name, state, **right)
            for name, state in (
                ("single colour", changed(f"<a:clrRepl >{black}</a:clrRepl>")),
                ("duotone", changed(f"<a:duotone >{black}{black}</a:duotone>")),
                ("black-and-white threshold", changed("<a:biLevel thresh='0'/>")),
                ("nearly white", changed("<a:lum bright='75001'/>")),
                ("covered by a fill",
                 changed(f"<a:fillOverlay blend='over'><a:solidFill>{black}</a:solidFill></a:fillOverlay>")),
                ("narrower than a thousandth of the slide", narrow(9_100)),
                ("odp: washed out", framed("draw:color-mode='watermark'")),
                ("in a group on the left", grouped(6_000_000, 0)),
                ("odp: maximum red, green and blue",
                 framed("draw:red='100%' draw:green='100%' draw:blue='100%'")),
                ("odp: maximum red", framed("draw:red='75%'")),
                ("odp: no green", framed("draw:green='-75%'")),
                ("odp: maximum blue", framed("draw:blue='80%'")),
                ("odp: turned white by a parent style", framed("", base="draw:luminance='100%'")),
                ("odp: turned grey by a parent style", framed("", base="draw:contrast='-100%'")),
                ("odp: turned white by the placeholder's style", framed("draw:red='100%'", "presentation")),
                ("odp: turned white by a parent of the placeholder's style",
                 framed("", "presentation", "draw:red='100%'")),
                ("odp: much lighter", framed("draw:gamma='500%'")),
                ("odp: much darker", framed("draw:gamma='20%'")),
                ("odp: black and white", framed("draw:color-mode='mono'")),
                ("odp: moved to the left", turned("translate (10mm 30mm)")),
                ("odp: rotated to the left", turned("rotate (3.1416) translate (100mm 60mm)")),
            )
        ),
        *(
            another_way(name, state, **right)
            for name, state in (
                ("in greyscale", changed("<a:grayscl />")),
                ("with a colour replaced", changed(
                    f"<a:clrChange ><a:clrFrom>{black}</a:clrFrom><a:clrTo>{black}</a:clrTo></a:clrChange>")),
                ("with an extension", changed("<a:extLst ></a:extLst>")),
                ("wider than a thousandth of the slide", narrow(9_200)),
                ("next to a narrow picture", at(path, _pptx(
                    lambda slide: (drawn(slide.shapes, width=9_000), drawn(slide.shapes))))),
                ("in a group on the right", grouped(0, 6_000_000)),
                ("odp: slightly redder", framed("draw:red='74%'")),
                ("odp: unchanged, with a white parent style",
                 framed("draw:luminance='0%'", base="draw:luminance='100%'")),
                ("odp: unchanged by the placeholder's style",
                 framed("draw:luminance='0%'", "presentation", "draw:red='10%'")),
                ("odp: lighter", framed("draw:gamma='400%'")),
                ("odp: darker", framed("draw:gamma='25%'")),
                ("odp: in greyscale", framed("draw:color-mode='greyscale'")),
                ("odp: moved to the right", turned("translate (140mm 30mm)")),
                ("odp: rotated to the right", turned("rotate (1.5708) translate (140mm 60mm)")),
            )
        ),
    )  # fmt: skip


_IMAGE = "<draw:image xlink:href='Pictures/1.png'/>"
_OUTLINES = (
    *("ellipse", "roundRect", "round1Rect", "round2SameRect", "round2DiagRect", "snip1Rect"),
    *("snip2SameRect", "snip2DiagRect", "snipRoundRect", "bevel", "plaque", "octagon", "hexagon"),
    *("flowChartDocument", "flowChartAlternateProcess"),
)
_SOFT = "<a:effectLst><a:softEdge rad='{}'/></a:effectLst>"
_RIGHT_BOX = "svg:x='140mm' svg:y='30mm' svg:width='40mm' svg:height='30mm'"


def _drawn(slide: Any) -> Any:
    file = io.BytesIO(encoded(noise(1)))
    return slide.shapes.add_picture(file, 6_000_000, 2_000_000, 2_700_000, 2_000_000)


def outline_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return cases of the first picture with outlines, on layers, and as a picture placeholder."""
    path = str(args["path"])
    right = {**args, "place": "right"}

    def outlined(outline: str) -> Any:
        def build(slide: Any) -> None:
            from pptx.oxml import parse_xml
            from pptx.oxml.ns import nsdecls

            properties = _drawn(slide)._element.spPr
            if outline.isalnum():
                properties.xpath("./a:prstGeom")[0].set("prst", outline)
            else:
                properties.append(parse_xml(outline.replace(">", f" {nsdecls('a')}>", 1)))

        return at(path, _pptx(build))

    def layered(display: str, place: str) -> Any:
        layers = f"<draw:layer-set><draw:layer draw:name='own' draw:display='{display}'/></draw:layer-set>"
        frame = f"<draw:frame {_RIGHT_BOX} draw:layer='own'>{_IMAGE}</draw:frame>"
        if place == "other":
            return at(path, _odp(layers + frame.replace("'own'", "'another'")))
        if place == "page":
            return at(path, _odp(layers + frame))
        return at(path, _odp(frame, layers=layers))

    place = f"<draw:frame {_RIGHT_BOX} presentation:placeholder='true'>{_IMAGE}</draw:frame>"
    return (
        *(
            forged(name, state, **right)
            for name, state in (
                ("as a line", outlined("line")),
                ("in a custom outline", outlined("<a:custGeom></a:custGeom>")),
                ("only soft edges", outlined(_SOFT.format(1_000_000))),
                ("soft edges slightly over half", outlined(_SOFT.format(500_001))),
                ("odp: on a hidden layer", layered("none", "page")),
                ("odp: on a layer that is only printed", layered("printer", "page")),
                ("odp: on a hidden layer of the master pages", layered("none", "masters")),
                ("odp: picture placeholder", at(path, _odp(place))),
            )
        ),
        *(
            another_way(name, state, **right)
            for name, state in (
                *((f"as {name}", outlined(name)) for name in _OUTLINES),
                ("soft edges of exactly half", outlined(_SOFT.format(500_000))),
                ("odp: next to a hidden layer", layered("none", "other")),
                ("with soft edges", outlined(_SOFT.format(112_500))),
                ("odp: on a visible layer", layered("always", "page")),
                ("odp: on a layer for the screen", layered("screen", "masters")),
            )
        ),
    )
