"""Presentations whose text is formatted by styles of shapes, layouts, masters and presentations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.testing.case import another_way, forged
from tests.evaluator_cases.document_cases import at
from tests.evaluator_cases.slide_format_ways import _ink, _odp, _pptx, _runs, _shape

if TYPE_CHECKING:
    from evaluators.testing.case import Case
    from provisioning.protocols import Json


def _list_style(element: Any, xml: str) -> None:
    """Replace the list style of an element with text, such as ``<a:lvl1pPr><a:defRPr sz='100'/></a:lvl1pPr>``."""
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import nsdecls

    body = element.xpath("./p:txBody | ./a:txBody")[0]
    for old in body.xpath("./a:lstStyle"):
        body.remove(old)
    body.insert(1, parse_xml(f"<a:lstStyle {nsdecls('a')}>{xml}</a:lstStyle>"))


def _level(letters: str, level: int = 1) -> str:
    """Return a level of a list style."""
    return f"<a:lvl{level}pPr>{letters}</a:lvl{level}pPr>"


_TINY = "<a:defRPr sz='100'/>"
_LARGE = "<a:defRPr sz='1800'/>"
_CLEAR = "<a:defRPr><a:noFill/></a:defRPr>"
_FAINT = "<a:defRPr><a:solidFill><a:srgbClr val='000000'><a:alpha val='0'/></a:srgbClr></a:solidFill></a:defRPr>"
_BLACK = "<a:defRPr><a:solidFill><a:srgbClr val='000000'/></a:solidFill></a:defRPr>"


def _master(slide: Any) -> Any:
    return slide.slide_layout.slide_master


def _body(slide: Any, level: int = 0) -> Any:
    """Write the line into the slide's second placeholder; return the placeholders of the slide, layout and master."""
    shape = slide.placeholders[1]
    shape.text_frame.text = "two"
    shape.text_frame.paragraphs[0].level = level
    layout = slide.slide_layout.placeholders.get(idx=1)
    return shape._element, layout._element, layout._base_placeholder._element


def _styled(own: str = "", layout: str = "", master: str = "", level: int = 0) -> Any:
    """Return a builder of a placeholder with these list styles."""

    def build(slide: Any) -> None:
        for element, xml in zip(_body(slide, level), (own, layout, master), strict=True):
            _list_style(element, xml)

    return build


def _sized(kind: str, level: int = 1, size: str = "100") -> Any:
    """Return a function that sets the font size in a style of the master or of the presentation."""

    def change(slide: Any) -> None:
        deck = slide.part.package.presentation_part.presentation
        root = deck if kind == "defaultTextStyle" else _master(slide)
        elements = root._element.xpath(f".//p:{kind}/a:lvl{level}pPr/a:defRPr")
        assert elements
        elements[0].set("sz", size)

    return change


def _then(*steps: Any) -> Any:
    """Return a builder that applies steps."""
    return lambda slide: [step(slide) for step in steps]


def _unsized(kind: str) -> Any:
    """Return a function that removes the font size from a style of the master or of the presentation."""

    def change(slide: Any) -> None:
        deck = slide.part.package.presentation_part.presentation
        for root in (deck, _master(slide)):
            for look in root._element.xpath(f".//p:{kind}/a:lvl1pPr/a:defRPr"):
                look.attrib.pop("sz", None)

    return change


def _celled(letters: str = "", *, merged: bool = False) -> Any:
    """Return a builder of a table with the line in its last cell."""

    def build(slide: Any) -> None:
        table = slide.shapes.add_table(2, 2, 900_000, 900_000, 900_000, 900_000).table
        cell = table.cell(1, 1)
        cell.text_frame.text = "two"
        if letters:
            _list_style(cell._tc, _level(letters))
        if merged:
            cell._tc.set("hMerge", "1")

    return build


def _field(size: int) -> Any:
    """Return a builder of a box with a field, such as a date's."""

    def build(slide: Any) -> None:
        from pptx.oxml import parse_xml
        from pptx.oxml.ns import nsdecls

        xml = f"<a:fld {nsdecls('a')} id='{{0}}' type='slidenum'><a:rPr sz='{size}'/><a:t>two</a:t></a:fld>"
        box = slide.shapes.add_textbox(900_000, 900_000, 900_000, 900_000)
        box.text_frame.paragraphs[0]._p.append(parse_xml(xml))

    return build


def styled_line_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the line "two" that is formatted by styles, or in tables and fields."""
    path = str(args["path"])
    tiny, large = _level(_TINY), _level(_LARGE)

    def box(slide: Any) -> Any:
        return _runs(slide, "two")[0]

    def own(slide: Any) -> None:
        box(slide)
        _list_style(slide.shapes[-1]._element, tiny)

    def noted(kind: str) -> Any:
        def build(slide: Any) -> None:
            shape = slide.placeholders[1]
            shape.text_frame.text = "two"
            shape._element.xpath("./*/p:nvPr/p:ph")[0].set("type", kind)

        return build

    def inked(slide: Any) -> None:
        _styled(layout=_level(_CLEAR))(slide)
        fill = "<a:solidFill><a:srgbClr val='000000'/></a:solidFill>"
        _ink(slide.placeholders[1].text_frame.paragraphs[0].runs[0], fill)

    def resized(slide: Any) -> None:
        from pptx.util import Pt

        _styled(layout=tiny)(slide)
        slide.placeholders[1].text_frame.paragraphs[0].runs[0].font.size = Pt(18)

    return (
        *(
            forged(name, at(path, _pptx(build, layout)), **args)
            for name, build, layout in (
                ("tiny by the list style of its text box", own, 5),
                ("tiny by its own list style", _styled(own=tiny, layout=large), 1),
                ("tiny by its layout", _styled(layout=tiny, master=large), 1),
                ("tiny by its master", _styled(master=tiny), 1),
                ("tiny on the second level", _styled(layout=_level(_TINY, 2), level=1), 1),
                ("without a fill by its layout", _styled(layout=_level(_CLEAR)), 1),
                ("transparent by its layout", _styled(layout=_level(_FAINT)), 1),
                ("without a fill, black by its master",
                 _styled(layout=_level(_CLEAR), master=_level(_BLACK)), 1),
                ("tiny by the body style of its master", _then(_body, _sized("bodyStyle")), 1),
                ("tiny by the other style of its master", _then(box, _sized("otherStyle")), 5),
                *(
                    (f"tiny as {kind}", _then(noted(kind), _sized("otherStyle")), 1)
                    for kind in ("dt", "ftr", "hdr", "sldNum")
                ),
                ("tiny by the default style of its presentation",
                 _then(box, _unsized("otherStyle"), _sized("defaultTextStyle")), 5),
                ("tiny in a table", _celled(_TINY), 5),
                ("in a cell covered by a merged cell", _celled(merged=True), 5),
                ("tiny field", _field(100), 5),
            )
        ),
        *(
            another_way(name, at(path, _pptx(build, layout)), **args)
            for name, build, layout in (
                ("large by its own list style", _styled(own=large, layout=tiny, master=tiny), 1),
                ("large by its layout", _styled(layout=large, master=tiny), 1),
                ("large by direct formatting", resized, 1),
                ("tiny style of a different level", _styled(layout=_level(_TINY, 2)), 1),
                ("tiny style of the first level", _styled(layout=tiny, level=1), 1),
                ("with a fill by its layout",
                 _styled(layout=_level(_BLACK), master=_level(_CLEAR)), 1),
                ("with direct fill", inked, 1),
                ("tiny title style", _then(_body, _sized("titleStyle")), 1),
                ("tiny other style", _then(_body, _sized("otherStyle")), 1),
                ("tiny body style", _then(box, _sized("bodyStyle")), 5),
                ("date and tiny body style", _then(noted("dt"), _sized("bodyStyle")), 1),
                ("2 pt by the default style of its presentation", _then(
                    box, _unsized("otherStyle"), _sized("defaultTextStyle", size="200")), 5),
                ("font size not set", _then(
                    box, _unsized("otherStyle"), _unsized("defaultTextStyle")), 5),
                ("in a table", _celled(), 5),
                ("field", _field(1800), 5),
            )
        ),
    )  # fmt: skip


def styled_title_cases(args: dict[str, Json]) -> tuple[Case, ...]:
    """Return the cases of the title Hello that is formatted by styles."""
    path = str(args["path"])
    title = _shape("draw:frame", "<text:p>Hello</text:p>", "presentation:class='title' {}")

    def entitled(slide: Any) -> None:
        slide.shapes.title.text = "Hello"

    return (
        *(
            forged(name, at(path, _pptx(_then(entitled, _sized("titleStyle")), layout)), **args)
            for name, layout in (
                ("tiny by the title style of its master", 5),
                ("tiny centred title", 0),
            )
        ),
        *(
            another_way(f"tiny {kind}", at(path, _pptx(_then(entitled, _sized(kind)))), **args)
            for kind in ("bodyStyle", "otherStyle")
        ),
        forged(
            "odp: prompt of a placeholder",
            at(path, _odp(title.format("presentation:placeholder='true'"))),
            **args,
        ),
        another_way("odp: not a prompt", at(path, _odp(title.format(""))), **args),
    )
