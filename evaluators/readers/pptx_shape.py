"""Find the visible shapes of a .pptx slide, and their positions.

Source: ECMA-376 part 1, 20.1.7.5 (groups), 20.1.8 (effects of pictures), part 3 (alternative content).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.readers.pptx_text import has_ink

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Box = tuple[float, float, float, float]
"""Left, top, width, height."""
_Place = tuple[float, float, float, float]
"""Transformation of a group's content: horizontal and vertical scale, shift right and down."""
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_UNDERSTOOD = frozenset(
    {
        "http://schemas.microsoft.com/office/drawing/2010/main",
        "http://schemas.microsoft.com/office/powerpoint/2010/main",
        "http://schemas.microsoft.com/office/powerpoint/2012/main",
        "urn:schemas-microsoft-com:vml",
    }
)
"""Extensions whose content LibreOffice, like PowerPoint, shows instead of the fallback.

Source: LibreOffice's ``oox/source/core/contexthandler2.cxx``.
"""
_KEEPING = ("alphaModFix", "lum", "grayscl", "clrChange", "extLst")
"""Effects that do not change a picture much, if they are not too strong."""
_REPAINTED = f".//a:blip/*[not({' or '.join(f'self::a:{name}' for name in _KEEPING)})]"
_BRIGHTEST = 75_000
"""Maximum change of brightness with which a picture still counts as the same, in thousandths of a percent."""
_CROPPED = 0.05
_SOFT = 0.25
"""Maximum size of a picture's soft edges, relative to its shorter side."""
_OUTLINES = frozenset(
    {
        *("rect", "ellipse", "roundRect", "round1Rect", "round2SameRect", "round2DiagRect"),
        *("snip1Rect", "snip2SameRect", "snip2DiagRect", "snipRoundRect", "bevel", "plaque"),
        *("octagon", "hexagon", "flowChartDocument", "flowChartAlternateProcess"),
    }
)
"""Outlines of PowerPoint's picture styles, and others with a similar area."""


def shapes_of(slide: Any) -> Iterator[tuple[Any, Box]]:  # noqa: ANN401 - python-pptx has no types
    """Iterate over the visible shapes on a slide, including those in groups, and their positions."""
    _choose(slide.shapes._spTree)  # noqa: SLF001 - python-pptx has no other way
    return _placed(slide.shapes, (1.0, 1.0, 0.0, 0.0))


def is_whole(picture: Any) -> bool:  # noqa: ANN401
    """Return whether a picture is visible, in its colours, and not cropped."""
    crops = (picture.crop_left, picture.crop_right, picture.crop_top, picture.crop_bottom)
    element = picture._element  # noqa: SLF001
    changes = element.xpath(".//a:lum/@bright | .//a:lum/@contrast")
    is_changed = any(abs(int(change)) > _BRIGHTEST for change in changes)
    is_itself = not is_changed and not element.xpath(_REPAINTED) and _has_area(picture)
    return max(crops) <= _CROPPED and is_itself and has_ink(element, ".//a:alphaModFix/@amt")


def _has_area(picture: Any) -> bool:  # noqa: ANN401
    """Return whether the outline and soft edges of a picture leave most of it visible."""
    element = picture._element  # noqa: SLF001
    outlines = set(element.xpath("./p:spPr/a:prstGeom/@prst"))
    edges = element.xpath("./p:spPr/a:effectLst/a:softEdge/@rad")
    side = min(picture.width or 0, picture.height or 0)
    is_soft = any(int(edge) > side * _SOFT for edge in edges)
    return outlines <= _OUTLINES and not is_soft and not element.xpath("./p:spPr/a:custGeom")


def _choose(tree: Any) -> None:  # noqa: ANN401
    """Move the shown branch of alternative contents out of them, because parsers ignore them."""
    for alternatives in list(tree.iter(f"{_MC}AlternateContent")):
        branch = next(filter(_is_understood, alternatives), ())
        for child in list(branch):
            alternatives.addprevious(child)


def _is_understood(branch: Any) -> bool:  # noqa: ANN401
    """Return whether all extensions that a branch requires are supported; a fallback requires none."""
    needed = {branch.nsmap.get(prefix) for prefix in branch.get("Requires", "").split()}
    return needed <= _UNDERSTOOD


def _placed(shapes: Iterable[Any], place: _Place) -> Iterator[tuple[Any, Box]]:
    for shape in shapes:
        if shape._element.xpath("./*/p:cNvPr[@hidden='1' or @hidden='true']"):  # noqa: SLF001
            continue
        if hasattr(shape, "shapes"):
            yield from _placed(shape.shapes, _within(shape, place))
        else:
            yield shape, _moved(shape, place)


def _moved(shape: Any, place: _Place) -> Box:  # noqa: ANN401
    box = (shape.left, shape.top, shape.width, shape.height)
    left, top, width, height = (float(edge or 0) for edge in box)
    across, down, right, below = place
    return left * across + right, top * down + below, width * across, height * down


def _within(group: Any, place: _Place) -> _Place:  # noqa: ANN401
    """Return the transformation of a group's content, which has its own coordinates."""
    left, top, width, height = _moved(group, place)
    inner = (
        group._element.xpath(f"./p:grpSpPr/a:xfrm/a:{name}")  # noqa: SLF001
        for name in ("chOff/@x", "chOff/@y", "chExt/@cx", "chExt/@cy")
    )
    x, y, across, down = (float(values[0]) if values else 0.0 for values in inner)
    scale_x = width / across if across else place[0]
    scale_y = height / down if down else place[1]
    return scale_x, scale_y, left - x * scale_x, top - y * scale_y
