"""Differences of two documents, and how large they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from evaluators.look import SAME_LOOK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evaluators.rendering.views.common import CharacterFormat, ViewModel

Aspect = Literal["text", "values", "formulas", "formatting", "structure", "look"]
V = TypeVar("V")
Amount = Annotated[float, Field(ge=0)]
_MISSING = "nothing"
_BLACK, _WHITE = "#000000", "#ffffff"
_MAX_CHARS = 80


class Tolerances(BaseModel):
    """How far a document may differ from its reference.

    Attributes:
        number: absolute difference of numbers in values.
        size_pt: difference of font sizes, and of spacing between characters, in points.
        position_mm: difference of positions, sizes, indents, spacing and margins, in mm.
        color: difference of each channel of a colour, 0 to 255.
        look: difference of the worst tile of a page, 0 to 1 (`evaluators.look.worst_tile`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: Amount = 1e-9
    size_pt: Amount = 0.1
    position_mm: Amount = 0.5
    color: Annotated[int, Field(ge=0, le=255)] = 0
    look: Annotated[float, Field(ge=0, le=1)] = SAME_LOOK


class Difference(NamedTuple):
    """One difference.

    Attributes:
        where: place in the document.
        wanted: what the reference has.
        found: what the document has.
    """

    where: str
    wanted: str
    found: str

    def __str__(self) -> str:
        """Return the difference in one line."""
        return f"{self.where}: {self.found}, not {self.wanted}"


class Comparison(Protocol):
    """Comparison of one aspect of two views of the same kind."""

    def __call__(self, wanted: Any, found: Any, tolerances: Tolerances, /) -> Iterator[Difference]:  # noqa: ANN401
        """Iterate over the differences."""
        ...


def shortened(value: object) -> str:
    """Return a value as text, cut if it is long."""
    text = _MISSING if value is None else repr(value)
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]} ..."


def compare(where: str, wanted: object, found: object) -> Iterator[Difference]:
    """Compare two values that must be equal."""
    if wanted != found:
        yield Difference(where, shortened(wanted), shortened(found))


def compare_numbers(
    where: str, wanted: float | None, found: float | None, tolerance: float
) -> Iterator[Difference]:
    """Compare two numbers, which may differ by a tolerance; None equals only None."""
    if wanted is None or found is None:
        yield from compare(where, wanted, found)
    elif abs(wanted - found) > tolerance:
        yield Difference(where, f"{wanted:g}", f"{found:g}")


def compare_colors(
    where: str, wanted: str | None, found: str | None, tolerance: int
) -> Iterator[Difference]:
    """Compare two colours ``#rrggbb``, each channel of which may differ by a tolerance."""
    if wanted == found:
        return
    if wanted is None or found is None:
        yield from compare(where, wanted, found)
    elif any(
        abs(one - other) > tolerance
        for one, other in zip(*map(_channels, (wanted, found)), strict=True)
    ):
        yield Difference(where, wanted, found)


def _channels(color: str) -> bytes:
    return bytes.fromhex(color.removeprefix("#"))


def text_color(color: str | None) -> str:
    """Return the colour of text, which is black unless it is set."""
    return color or _BLACK


def back_color(color: str | None) -> str:
    """Return the colour behind something, which is white unless it is set."""
    return color or _WHITE


def compare_fields(
    where: str,
    wanted: ViewModel,
    found: ViewModel,
    names: Sequence[str],
    tolerance: float | None = None,
) -> Iterator[Difference]:
    """Compare fields of two parts of views by their names.

    Args:
        where: place of the parts.
        wanted: part of the reference.
        found: part of the document.
        names: names of the fields.
        tolerance: largest difference, for numbers.
    """
    for name in names:
        one, other = getattr(wanted, name), getattr(found, name)
        place = f"{where}, {name}"
        if tolerance is None:
            yield from compare(place, one, other)
        else:
            yield from compare_numbers(place, one, other, tolerance)


def compare_characters(
    where: str, wanted: CharacterFormat, found: CharacterFormat, tolerances: Tolerances
) -> Iterator[Difference]:
    """Compare the formatting of characters."""
    names = ("font", "is_bold", "is_italic", "underline", "is_struck")
    yield from compare_fields(where, wanted, found, names)
    yield from compare_fields(where, wanted, found, ("size_pt",), tolerances.size_pt)
    colors = (text_color(wanted.color), text_color(found.color))
    yield from compare_colors(f"{where}, color", *colors, tolerances.color)


def pairs(
    what: str, wanted: Sequence[V], found: Sequence[V]
) -> Iterator[tuple[str, V, V] | Difference]:
    """Iterate over two sequences: the difference of their lengths, then pairs with their place."""
    if len(wanted) != len(found):
        yield Difference(f"number of {what}s", str(len(wanted)), str(len(found)))
    for number, (one, other) in enumerate(zip(wanted, found, strict=False), 1):
        yield f"{what} {number}", one, other


def compare_each(
    what: str,
    wanted: Sequence[V],
    found: Sequence[V],
    compare_pair: Callable[[str, V, V], Iterator[Difference]],
) -> Iterator[Difference]:
    """Compare two sequences: their lengths, and each pair."""
    for row in pairs(what, wanted, found):
        if isinstance(row, Difference):
            yield row
        else:
            yield from compare_pair(*row)


def compare_keyed(
    what: str,
    wanted: Mapping[str, V],
    found: Mapping[str, V],
    compare_pair: Callable[[str, V, V], Iterator[Difference]],
) -> Iterator[Difference]:
    """Compare what stands at the same keys, such as cells; a key that only one has is a difference."""
    for key in sorted(wanted.keys() | found.keys()):
        one, other = wanted.get(key), found.get(key)
        if one is None or other is None:
            yield Difference(
                f"{what} {key}",
                *(_MISSING if part is None else "something" for part in (one, other)),
            )
        else:
            yield from compare_pair(f"{what} {key}", one, other)
