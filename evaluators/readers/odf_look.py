"""Text properties set by OpenDocument styles, and whether text with them is visible."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from evaluators.readers.visibility import SMALLEST_MM, SMALLEST_PT, is_faint, is_visible

LENGTH = re.compile(r"(-?[\d.]+)(mm|cm|in|pt|pc|px)")
_MM = {
    "mm": 1.0, "cm": 10.0, "in": 25.4, "pt": 25.4 / 72, "pc": 25.4 / 6, "px": 25.4 / 96,
}  # fmt: skip
_SHARE = re.compile(r"\s*([+-]?\d*\.?\d+)%\s*")
_PT_A_MM = 72 / 25.4
_ALIGNMENTS = {"start": "left", "end": "right"}
_USUAL_PT = 12.0
_RAISED = 0.58
"""Default relative size of superscript and subscript letters."""
_SLACK_MM = 5.0


@dataclass(frozen=True, slots=True)
class Look:
    """Properties of a style; None if not set.

    Attributes:
        colour: text colour; empty for automatic, black or white for contrast.
        relative: relative size of the letters; ``size_pt`` is not set then.
        raised: likewise, for superscript and subscript letters.
        scale: relative width of the letters.
        opacity: opacity from 0 to 1.
        spacing_mm: additional space between letters.
        line_mm: fixed height of lines.
        line_ratio: relative height of lines.
        master: the page style that begins with the text.
        line_colour: colour of the underline; empty for the text's colour.
    """

    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    colour: str | None = None
    size_pt: float | None = None
    alignment: str | None = None
    fill: str | None = None
    hidden: bool | None = None
    relative: float | None = None
    raised: float | None = None
    scale: float | None = None
    opacity: float | None = None
    spacing_mm: float | None = None
    line_mm: float | None = None
    line_ratio: float | None = None
    left_mm: float | None = None
    right_mm: float | None = None
    indent_mm: float | None = None
    master: str | None = None
    line_colour: str | None = None

    def over(self, below: Look) -> Look:
        """Return these properties with unset ones from `below`, to which a relative size refers."""
        gaps = {
            name: getattr(below, name) for name in self.__slots__ if getattr(self, name) is None
        }
        if self.size_pt is None and self.relative is not None:
            if below.size_pt is not None:
                gaps |= {"size_pt": below.size_pt * self.relative, "relative": 1.0}
            else:
                gaps["relative"] = self.relative * _or(below.relative, 1.0)
        return replace(self, **gaps)

    def is_legible(self, *, has_paper: bool) -> bool:
        """Return whether text can be read.

        Args:
            has_paper: whether the page is white if no style sets a background.
        """
        if self.hidden or is_faint(_or(self.opacity, 1.0)):
            return False
        usual = (_USUAL_PT if self.size_pt is None else self.size_pt) * _or(self.relative, 1.0)
        size = usual * _or(self.raised, 1.0)
        line = size * _or(self.line_ratio, 1.0)
        if self.line_mm is not None:
            line = min(line, self.line_mm * _PT_A_MM)
        is_apart = _or(self.spacing_mm, 0.0) * _PT_A_MM > -size / 2
        is_large = min(size * _or(self.scale, 1.0), line) >= SMALLEST_PT
        colour = self.colour or "" if has_paper else ""
        return is_apart and is_large and is_visible(size, colour, self.fill or "")

    def is_underlined(self, *, has_paper: bool) -> bool:
        """Return whether an underline is visible; `has_paper` as in `is_legible`."""
        colour = (self.line_colour or self.colour or "") if has_paper else ""
        return bool(self.underline) and is_visible(None, colour, self.fill or "")

    def is_within(self, width_mm: float, left_mm: float, right_mm: float) -> bool:
        """Return whether text begins and ends within a page of the given width and side margins."""
        left = left_mm + _or(self.left_mm, 0.0)
        right = right_mm + _or(self.right_mm, 0.0)
        first = left + _or(self.indent_mm, 0.0)
        return min(left, right, first) >= -_SLACK_MM and max(left, right, first) < width_mm


def own_look(style: Any) -> Look:  # noqa: ANN401 - odfpy's element
    """Return the properties that a style sets itself."""
    look = Look(master=attribute(style, "masterpagename") or None)
    for child in style.childNodes:
        look = look.over(_text_look(child)).over(_paragraph_look(child))
    return look


def _text_look(child: Any) -> Look:  # noqa: ANN401
    weight, slant = attribute(child, "fontweight"), attribute(child, "fontstyle")
    line, size = attribute(child, "textunderlinestyle"), attribute(child, "fontsize")
    fill, display = attribute(child, "backgroundcolor"), attribute(child, "display")
    is_automatic = attribute(child, "usewindowfontcolor") == "true"
    return Look(
        bold=weight in {"bold", "600", "700", "800", "900"} if weight else None,
        italic=slant in {"italic", "oblique"} if slant else None,
        underline=line != "none" if line else None,
        line_colour=_own_colour(attribute(child, "textunderlinecolor")),
        colour="" if is_automatic else attribute(child, "color").lstrip("#").lower() or None,
        size_pt=_points(size),
        hidden=display in {"none", "false"} if display else None,
        fill=None if fill in {"", "transparent"} else fill.lstrip("#").lower(),
        relative=share_of(size) if _points(size) is None else 1.0,
        raised=_raised(attribute(child, "textposition")),
        scale=share_of(attribute(child, "textscale")),
        opacity=_opacity(child),
        spacing_mm=_length(attribute(child, "letterspacing")),
    )


def _paragraph_look(child: Any) -> Look:  # noqa: ANN401
    if child.qname[1] != "paragraph-properties":
        return Look()
    align, height = attribute(child, "textalign"), attribute(child, "lineheight")
    margin = attribute(child, "margin")
    return Look(
        alignment=_ALIGNMENTS.get(align, align) or None,
        line_mm=_length(height),
        line_ratio=share_of(height),
        left_mm=_length(attribute(child, "marginleft") or margin),
        right_mm=_length(attribute(child, "marginright") or margin),
        indent_mm=_length(attribute(child, "textindent")),
    )


def _own_colour(colour: str) -> str | None:
    """Return an underline's colour; empty for the text's colour, None if not set."""
    return "" if colour == "font-color" else colour.lstrip("#").lower() or None


def _opacity(child: Any) -> float | None:  # noqa: ANN401
    """Return the opacity of text; 0% with the automatic colour, which LibreOffice writes, means opaque."""
    if child.qname[1] != "text-properties":
        return None
    if attribute(child, "usewindowfontcolor") == "true":
        return 1.0
    share = share_of(attribute(child, "opacity"))
    return 1.0 if share is None and attribute(child, "color") else share


def _or(value: float | None, usual: float) -> float:
    return usual if value is None else value


def _points(size: str) -> float | None:
    length = _length(size)
    return None if length is None else length * _PT_A_MM


def _raised(position: str) -> float | None:
    """Return the relative size in a superscript or subscript position: ``super 58%`` or ``33% 58%``."""
    where, _, share = position.partition(" ")
    if not where:
        return None
    return share_of(share) or (1.0 if where in {"0", "0%"} else _RAISED)


def share_of(text: str) -> float | None:
    """Return a percentage as a fraction; None if it is not a percentage."""
    match = _SHARE.fullmatch(text)
    return float(match[1]) / 100 if match else None


def _length(text: str) -> float | None:
    return length_mm(text) if LENGTH.fullmatch(text) else None


def attribute(node: Any, name: str) -> str:  # noqa: ANN401
    """Return an attribute by odfpy's short name; empty if it is missing."""
    for (_, key), value in (node.attributes or {}).items():
        if key.replace("-", "") == name:
            return str(value)
    return ""


def length_mm(length: str) -> float:
    """Return a length in mm; 0 if it is not a length."""
    match = LENGTH.fullmatch(length)
    return float(match[1]) * _MM[match[2]] if match else 0.0


def is_seen_side(length: str) -> bool:
    """Return whether a picture with a side of the given length is visible; True for unknown lengths."""
    return not LENGTH.fullmatch(length) or length_mm(length) >= SMALLEST_MM
