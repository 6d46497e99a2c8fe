"""Interpret the operators of a PDF's page: positions of text, and painted areas.

Source: ISO 32000-1, 8.4 (graphics state), 8.5 (paths), 8.9.7 (inline images), 8.11 (optional content), 9.3
and 9.4 (text), 11.6 (transparency).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluators.readers.pdf_colour import array_of, first_colour, has_ink, mix_of
from evaluators.readers.pdf_graphics import (
    EVERYWHERE,
    IDENTITY,
    UNKNOWN,
    GraphicsState,
    Paint,
    bounding_box,
    colour_of,
    cut,
    holds,
    is_inside,
    matrix_of,
    times,
    union,
)
from evaluators.readers.pdf_page import Passage
from evaluators.readers.visibility import SMALLEST_PT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evaluators.readers.pdf_graphics import Box, Ring
    from evaluators.readers.pdf_page import Page

_SHOWS = frozenset({"Tj", "TJ", "'", '"'})
_PATHS = frozenset({"re", "m", "l", "c", "v", "y"})
_FILLS = frozenset({"f", "F", "f*", "B", "B*", "b", "b*"})
_PAINTS = _FILLS | {"S", "s", "n"}
_MOVES = frozenset({"BT", "Tm", "Td", "TD", "T*"})
_FILLED_MODES = frozenset({0, 2, 4, 6})
_STROKED_MODES = frozenset({1, 2, 5, 6})
_STEM = 1 / 10
"""Line width, relative to the size of letters, from which outlines cover the letters completely."""
_SEEN_MODES = frozenset({"/Normal", "/Compatible", "/Multiply", "/Darken", "/ColorBurn"})
"""Blend modes in which dark letters are visible on a page."""
_SEE_THROUGH = ("/SMask", "/Mask", "/ImageMask", "/SMaskInData", "/IM")
_DEVICES = frozenset({"g", "rg", "k"})
_COLOURS = _DEVICES | {"sc", "scn", "cs"}
"""Operators that set the fill colour or its space; those for strokes have the same names in capitals."""
_STATES = frozenset({"Tf", "TL", "Tr", "Tz", "cm", "gs", "w"})


class Run:
    """One pass over the operators of a page or form.

    Args:
        page: page that collects what is painted.
        resources: resources of the page or form.
        state: initial graphics state.
        show: callback for a shown form, with its name.
    """

    def __init__(
        self,
        page: Page,
        resources: Mapping[str, Any],
        state: GraphicsState,
        show: Callable[[str, GraphicsState], None],
    ) -> None:
        self._page = page
        self._resources = resources
        self._state = state
        self._show = show
        self._stack: list[GraphicsState] = []
        self._text = self._line = IDENTITY
        self._path: list[Box] = []
        self._is_plain_path = True
        self._clips = ""
        self._marks: list[bool] = []

    def follow(self, operations: Sequence[tuple[Any, bytes]], first_key: int) -> None:
        """Interpret operators.

        Args:
            operations: operands and operators, as read by pypdf.
            first_key: key of the first operator; keys are consecutive.
        """
        for number, (operands, operator) in enumerate(operations):
            self._page.order += 1
            self._step(operands, operator, first_key + number)

    def _step(self, operands: Sequence[Any], operator: bytes, key: int) -> None:
        name = operator.decode("latin-1")
        numbers = [float(operand) for operand in operands if isinstance(operand, int | float)]
        if name in _SHOWS:
            self._passage(name, key)
        elif name in _PATHS:
            self._draw(name, numbers)
        elif name in _PAINTS:
            self._paint(name)
        elif name in _MOVES:
            self._move(name, numbers)
        elif name.lower() in _COLOURS:
            self._colour(name, numbers, operands)
        elif name in _STATES:
            self._set(name, numbers, operands)
        else:
            self._other(name, operands)

    def _passage(self, name: str, key: int) -> None:
        if name in {"'", '"'}:
            self._move("T*", [])
        whole = times(self._text, self._state.matrix)
        size = abs(self._state.font_size) * (whole[2] ** 2 + whole[3] ** 2) ** 0.5
        x, y = whole[4], whole[5]
        state = self._state
        across = abs(state.font_size * state.stretch) * (whole[0] ** 2 + whole[1] ** 2) ** 0.5
        upright = abs(whole[0] * whole[3] - whole[1] * whole[2])
        area = upright * state.font_size**2 * abs(state.stretch)
        is_painted = (
            area >= SMALLEST_PT * max(size, across) > 0
            and not any(self._marks)
            and holds(state.clip, x, y + size / 4)
            and is_inside(state.rings, x, y + size / 4)
        )
        for paint in self._paints(size) or [Paint(has_ink=False)]:
            is_inked = is_painted and state.is_seen(paint)
            passage = Passage(key, self._page.order, x, y, size, paint.colour, is_inked)
            self._page.passages.append(passage)

    def _paints(self, size: float) -> list[Paint]:
        """Return the paints of letters of a size, for fill and outline."""
        state = self._state
        if state.mode not in _STROKED_MODES:
            return [state.fill] if state.mode in _FILLED_MODES else []
        line = state.line_width * (state.matrix[2] ** 2 + state.matrix[3] ** 2) ** 0.5
        is_filled = state.mode in _FILLED_MODES
        is_covered = line >= size * _STEM and state.covers(state.stroke)
        return [state.fill, state.stroke] if is_filled and not is_covered else [state.stroke]

    def _draw(self, name: str, numbers: list[float]) -> None:
        if name == "re" and len(numbers) == 4:  # noqa: PLR2004 - x, y, width, height
            x, y, width, height = numbers
            corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        else:
            corners = list(zip(numbers[::2], numbers[1::2], strict=False))
            self._is_plain_path = False
        if corners:
            self._path.append(bounding_box(corners, self._state.matrix))
        turned = self._state.matrix[1] != 0 or self._state.matrix[2] != 0
        self._is_plain_path = self._is_plain_path and not turned

    def _paint(self, name: str) -> None:
        state = self._state
        path = tuple(self._path)
        ring = (path,) if self._is_plain_path else ()
        if (
            name in _FILLS
            and path
            and state.fill.alpha * state.outer_opacity > 0
            and state.fill.has_ink
        ):
            is_plain = self._is_plain_path and state.covers(state.fill)
            boxes = path if is_plain else (union(path),)
            colour = state.fill.colour if is_plain else UNKNOWN
            for box in boxes:
                self._area(box, colour, ring if name.endswith("*") else ())
        if self._clips and path:
            rings = state.rings + (ring if self._clips == "W*" else ())
            self._state = replace(state, clip=cut(union(path), state.clip), rings=rings)
        self._path, self._is_plain_path, self._clips = [], True, ""

    def _area(
        self, box: Box, colour: str, ring: tuple[Ring, ...] = (), *, covers: bool = False
    ) -> None:
        """Record a painted area, unless it is in a layer that is off."""
        state = self._state
        if not any(self._marks):
            self._page.paint(cut(box, state.clip), colour, state.rings + ring, covers=covers)

    def _move(self, name: str, numbers: list[float]) -> None:
        if name == "BT":
            self._text = self._line = IDENTITY
        elif name == "Tm" and len(numbers) == 6:  # noqa: PLR2004 - a matrix
            self._text = self._line = matrix_of(numbers)
        elif name in {"Td", "TD"} and len(numbers) == 2:  # noqa: PLR2004 - x and y
            if name == "TD":
                self._state = replace(self._state, leading=-numbers[1])
            self._advance(numbers[0], numbers[1])
        elif name == "T*":
            self._advance(0, -self._state.leading)

    def _advance(self, x: float, y: float) -> None:
        self._text = self._line = times((1, 0, 0, 1, x, y), self._line)

    def _colour(self, name: str, numbers: list[float], operands: Sequence[Any]) -> None:
        state, kind = self._state, name.lower()
        paint = state.fill if name.islower() else state.stroke
        if kind in _DEVICES:
            paint = replace(paint, colour=colour_of(numbers), mix=colour_of, has_ink=True)
        elif kind == "cs":
            space = array_of(self._named("/ColorSpace", operands[0])) if operands else []
            mix = mix_of(space)
            colour = first_colour(space, mix)
            paint = replace(paint, colour=colour, mix=mix, has_ink=has_ink(space))
        elif len(numbers) == len(operands) > 0:
            paint = replace(paint, colour=paint.mix(numbers))
        else:
            paint = replace(paint, colour=UNKNOWN)
        is_fill = name.islower()
        self._state = replace(state, fill=paint) if is_fill else replace(state, stroke=paint)

    def _set(self, name: str, numbers: list[float], operands: Sequence[Any]) -> None:
        state = self._state
        if name == "Tz" and numbers:
            self._state = replace(state, stretch=numbers[0] / 100)
        elif name == "Tf" and numbers:
            self._state = replace(state, font_size=numbers[-1])
        elif name == "w" and numbers:
            self._state = replace(state, line_width=numbers[0])
        elif name == "TL" and numbers:
            self._state = replace(state, leading=numbers[0])
        elif name == "Tr" and numbers:
            self._state = replace(state, mode=int(numbers[0]))
        elif name == "cm" and len(numbers) == 6:  # noqa: PLR2004 - a matrix
            moved = times(matrix_of(numbers), state.matrix)
            self._state = replace(state, matrix=moved)
        elif name == "gs" and operands:
            self._use(self._named("/ExtGState", operands[0]))

    def _use(self, values: Mapping[str, Any]) -> None:
        """Apply a named graphics state; entries that it does not have stay unchanged."""
        state = self._state
        mask = values.get("/SMask", "/None" if not state.is_masked else "")
        fill, stroke = state.fill, state.stroke
        state = replace(
            state,
            fill=replace(fill, alpha=float(values.get("/ca", fill.alpha))),
            stroke=replace(stroke, alpha=float(values.get("/CA", stroke.alpha))),
            line_width=float(values.get("/LW", state.line_width)),
            is_masked=mask != "/None",
        )
        if (modes := values.get("/BM")) is not None:
            mode = next(iter(modes), "/Normal") if isinstance(modes, list) else modes
            state = replace(state, is_plain=mode == "/Normal", blends_well=mode in _SEEN_MODES)
        self._state = state

    def _other(self, name: str, operands: Sequence[Any]) -> None:
        if name == "q":
            self._stack.append(self._state)
        elif name == "Q" and self._stack:
            self._state = self._stack.pop()
        elif name in {"W", "W*"}:
            self._clips = name
        elif name in {"BDC", "BMC"}:
            self._marks.append(name == "BDC" and self._is_off(operands))
        elif name == "EMC" and self._marks:
            self._marks.pop()
        elif name == "Do" and operands:
            self._use_object(str(operands[0]))
        elif name == "INLINE IMAGE":
            self._picture(dict(operands)["settings"])
        elif name == "sh":
            self._picture({"/SMask": True})

    def _use_object(self, name: str) -> None:
        shown = self._named("/XObject", name)
        is_off = any(self._marks) or self._page.layers.is_off(shown.get("/OC"))
        if shown.get("/Subtype") == "/Form":
            matrix = matrix_of([float(number) for number in shown.get("/Matrix", IDENTITY)])
            inner = replace(self._state, matrix=times(matrix, self._state.matrix))
            left, bottom, right, top = (float(edge) for edge in shown.get("/BBox", EVERYWHERE))
            corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
            inner = replace(inner, clip=cut(bounding_box(corners, inner.matrix), inner.clip))
            if "/Group" in shown:
                inner = inner.in_group()
            self._show(name, replace(inner, outer_opacity=0.0) if is_off else inner)
        elif not is_off:
            self._picture(shown)

    def _picture(self, entries: Mapping[str, Any]) -> None:
        state = self._state
        box = bounding_box([(0, 0), (1, 0), (1, 1), (0, 1)], state.matrix)
        is_upright = state.matrix[1] == 0 and state.matrix[2] == 0
        is_opaque = all(entries.get(key) in (None, False) for key in _SEE_THROUGH)
        covers = is_opaque and is_upright and state.covers(replace(state.fill, has_ink=True))
        self._area(box, UNKNOWN, covers=covers)

    def _is_off(self, operands: Sequence[Any]) -> bool:
        """Return whether marked content belongs to a layer that is off."""
        if len(operands) != 2 or operands[0] != "/OC":  # noqa: PLR2004 - tag and properties
            return False
        layers = self._resources.get("/Properties", {})
        layer = getattr(layers.get_object(), "raw_get", layers.get)(operands[1]) if layers else None
        return self._page.layers.is_off(layer)

    def _named(self, kind: str, name: object) -> Mapping[str, Any]:
        resource = self._resources.get(kind, {}).get(name, {})
        return resource.get_object() if hasattr(resource, "get_object") else resource  # type: ignore[no-any-return]
