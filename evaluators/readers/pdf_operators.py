"""Follow the operators of a PDF's page: where text stands, and what is painted.

Source: ISO 32000-1, 8.4 (graphics state), 8.5 (paths), 8.11 (optional content), 9.3 and 9.4 (text),
11.6 (transparency).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluators.readers.pdf_graphics import (
    EVERYWHERE,
    IDENTITY,
    UNKNOWN,
    GraphicsState,
    around,
    colour_of,
    cut,
    holds,
    matrix_of,
    times,
    union,
)
from evaluators.readers.pdf_page import Passage
from evaluators.readers.visibility import SMALLEST_PT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evaluators.readers.pdf_graphics import Box, Ink
    from evaluators.readers.pdf_page import Page

_NO_INK = frozenset({3, 7})
_SHOWS = frozenset({"Tj", "TJ", "'", '"'})
_PATHS = frozenset({"re", "m", "l", "c", "v", "y"})
_FILLS = frozenset({"f", "F", "f*", "B", "B*", "b", "b*"})
_PAINTS = _FILLS | {"S", "s", "n"}
_MOVES = frozenset({"BT", "Tm", "Td", "TD", "T*"})
_SEEN_MODES = frozenset({"/Normal", "/Compatible", "/Multiply", "/Darken", "/ColorBurn"})
"""Blend modes in which dark letters are seen on a page."""
_SEE_THROUGH = ("/SMask", "/Mask", "/ImageMask", "/SMaskInData")
_COLOURS = frozenset({"g", "rg", "k"})
_EXPONENTIAL = 2
"""Type of a function."""
_STATES = _COLOURS | {"sc", "scn", "cs", "Tf", "TL", "Tr", "Tz", "cm", "gs"}


def _within(state: GraphicsState) -> GraphicsState:
    """Return the state at the beginning of a transparency group: what is around it applies to all of it.

    Source: ISO 32000-1, 11.6.6.
    """
    return replace(
        state,
        around=state.opacity if state.is_seen else 0.0,
        is_plain_around=state.is_plain and state.is_plain_around,
        alpha=1.0,
        is_plain=True,
        blends_well=True,
        is_masked=False,
    )


class Run:
    """One pass over the operators of a page or form.

    Args:
        page: gets what is painted.
        resources: of the page or form.
        state: at the beginning.
        show: is called for a form that is shown, by its name.
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
        self._clips = False
        self._marks: list[bool] = []

    def follow(self, operations: Sequence[tuple[Any, bytes]], first_key: int) -> None:
        """Follow operators.

        Args:
            operations: operands and operator, as pypdf reads them.
            first_key: key of the first one; they are numbered in sequence.
        """
        for number, (operands, operator) in enumerate(operations):
            self._page.order += 1
            self._step(operands, operator, first_key + number)

    def _step(self, operands: Sequence[Any], operator: bytes, key: int) -> None:
        name = operator.decode("latin-1")
        numbers = [float(each) for each in operands if isinstance(each, int | float)]
        if name in _SHOWS:
            self._passage(name, key)
        elif name in _PATHS:
            self._draw(name, numbers)
        elif name in _PAINTS:
            self._paint(name)
        elif name in _MOVES:
            self._move(name, numbers)
        elif name in _STATES:
            self._set(name, numbers, operands)
        else:
            self._other(name, operands)

    def _passage(self, name: str, key: int) -> None:
        if name in {"'", '"'}:
            self._move("T*", [])
        whole = times(self._text, self._state.matrix)
        size = abs(self._state.font_size) * (whole[2] ** 2 + whole[3] ** 2) ** 0.5
        state = self._state
        across = abs(state.font_size * state.stretch) * (whole[0] ** 2 + whole[1] ** 2) ** 0.5
        is_inked = (
            state.mode not in _NO_INK
            and state.has_ink
            and state.is_seen
            and across >= SMALLEST_PT
            and not any(self._marks)
            and holds(state.clip, whole[4], whole[5] + size / 4)
        )
        passage = Passage(key, self._page.order, whole[4], whole[5], size, state.colour, is_inked)
        self._page.passages.append(passage)

    def _draw(self, name: str, numbers: list[float]) -> None:
        if name == "re" and len(numbers) == 4:  # noqa: PLR2004 - x, y, width, height
            x, y, width, height = numbers
            corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        else:
            corners = list(zip(numbers[::2], numbers[1::2], strict=False))
            self._is_plain_path = False
        if corners:
            self._path.append(around(corners, self._state.matrix))
        turned = self._state.matrix[1] != 0 or self._state.matrix[2] != 0
        self._is_plain_path = self._is_plain_path and not turned

    def _paint(self, name: str) -> None:
        state = self._state
        if name in _FILLS and self._path and state.opacity > 0:
            is_plain = self._is_plain_path and state.covers
            is_plain = is_plain and (len(self._path) == 1 or not name.endswith("*"))
            boxes = self._path if is_plain else [union(self._path)]
            colour = state.colour if is_plain else UNKNOWN
            for box in boxes:
                self._page.paint(cut(box, state.clip), colour)
        if self._clips and self._path:
            self._state = replace(state, clip=cut(union(self._path), state.clip))
        self._path, self._is_plain_path, self._clips = [], True, False

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

    def _set(self, name: str, numbers: list[float], operands: Sequence[Any]) -> None:
        state = self._state
        if name in _COLOURS or (name in {"sc", "scn"} and len(numbers) == len(operands)):
            is_device = name in _COLOURS
            ink = None if is_device else state.ink
            self._state = replace(
                state,
                colour=colour_of(numbers if ink is None else _mixed(ink, numbers)),
                has_ink=state.has_ink or is_device,
                ink=ink,
            )
        elif name in {"sc", "scn"}:
            self._state = replace(state, colour=UNKNOWN)
        elif name == "cs":
            space = self._space(operands)
            ink = _ink(space)
            self._state = replace(
                state,
                colour="000000" if ink is None else colour_of(_mixed(ink, [1.0])),
                has_ink=space[:2] != ["/Separation", "/None"],
                ink=ink,
            )
        elif name == "Tz" and numbers:
            self._state = replace(state, stretch=numbers[0] / 100)
        elif name == "Tf" and numbers:
            self._state = replace(state, font_size=numbers[-1])
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
        """Apply a named graphics state; what it does not name stays."""
        state = self._state
        mask = values.get("/SMask", "/None" if not state.is_masked else "")
        state = replace(
            state, alpha=float(values.get("/ca", state.alpha)), is_masked=mask != "/None"
        )
        if (modes := values.get("/BM")) is not None:
            mode = next(iter(modes), "/Normal") if isinstance(modes, list) else modes
            state = replace(state, is_plain=mode == "/Normal", blends_well=mode in _SEEN_MODES)
        self._state = state

    def _space(self, operands: Sequence[Any]) -> list[Any]:
        """Return a named colour space's array; empty for those of devices."""
        space = self._named("/ColorSpace", operands[0]) if operands else []
        return [getattr(each, "get_object", lambda each=each: each)() for each in space]

    def _other(self, name: str, operands: Sequence[Any]) -> None:
        if name == "q":
            self._stack.append(self._state)
        elif name == "Q" and self._stack:
            self._state = self._stack.pop()
        elif name in {"W", "W*"}:
            self._clips = True
        elif name in {"BDC", "BMC"}:
            self._marks.append(name == "BDC" and self._is_off(operands))
        elif name == "EMC" and self._marks:
            self._marks.pop()
        elif name == "Do" and operands:
            self._use_object(str(operands[0]))
        elif name in {"INLINE IMAGE", "sh"}:
            self._picture()

    def _use_object(self, name: str) -> None:
        shown = self._named("/XObject", name)
        if shown.get("/Subtype") == "/Form":
            matrix = matrix_of([float(each) for each in shown.get("/Matrix", IDENTITY)])
            inner = replace(self._state, matrix=times(matrix, self._state.matrix))
            left, bottom, right, top = (float(edge) for edge in shown.get("/BBox", EVERYWHERE))
            corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
            inner = replace(inner, clip=cut(around(corners, inner.matrix), inner.clip))
            if "/Group" in shown:
                inner = _within(inner)
            if any(self._marks):
                inner = replace(inner, around=0.0)
            self._show(name, inner)
        else:
            self._picture(is_opaque=not any(shown.get(key) for key in _SEE_THROUGH))

    def _picture(self, *, is_opaque: bool = False) -> None:
        state = self._state
        box = around([(0, 0), (1, 0), (1, 1), (0, 1)], state.matrix)
        is_upright = state.matrix[1] == 0 and state.matrix[2] == 0
        covers = is_opaque and is_upright and state.covers and not any(self._marks)
        self._page.paint(cut(box, state.clip), UNKNOWN, covers=covers)

    def _is_off(self, operands: Sequence[Any]) -> bool:
        """Return whether marked content belongs to a layer that is switched off."""
        if len(operands) != 2 or operands[0] != "/OC":  # noqa: PLR2004 - tag and properties
            return False
        layers = self._resources.get("/Properties", {})
        layer = getattr(layers.get_object(), "raw_get", layers.get)(operands[1]) if layers else None
        return getattr(layer, "idnum", None) in self._page.hidden_layers

    def _named(self, kind: str, name: object) -> Mapping[str, Any]:
        found = self._resources.get(kind, {}).get(name, {})
        return found.get_object() if hasattr(found, "get_object") else found  # type: ignore[no-any-return]


def _ink(space: Sequence[Any]) -> Ink | None:
    """Return how a colour space mixes ink; None for spaces without inks.

    Source: ISO 32000-1, 8.6.6.4 and 7.10.3. Inks with another function than an exponential one darken.
    """
    if not space or space[0] not in {"/Separation", "/DeviceN"}:
        return None
    function = space[3] if len(space) > 3 and hasattr(space[3], "get") else {}  # noqa: PLR2004
    if function.get("/FunctionType") != _EXPONENTIAL:
        return (1.0,), (0.0,), 1.0
    none, full = (
        tuple(map(float, function.get(key, [end]))) for key, end in (("/C0", 0), ("/C1", 1))
    )
    return none, full, float(function.get("/N", 1))


def _mixed(ink: Ink, tints: Sequence[float]) -> list[float]:
    """Return the components of a colour that is mixed from inks; the strongest counts."""
    none, full, exponent = ink
    share = min(max(*tints, 0.0), 1.0) ** exponent
    return [one + share * (other - one) for one, other in zip(none, full, strict=False)]
