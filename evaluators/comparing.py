"""Compare values and pictures, ignoring defined differences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import numpy as np
from PIL import Image

from evaluators.folding import plain as fold
from evaluators.look import has_same_details
from evaluators.parsing import read_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    import numpy.typing as npt

    from evaluators.pictures import Picture, Pixels

    Grey = npt.NDArray[np.float32]

ComparisonMethod = Literal["exact", "normal", "number", "digits"]
"""Ways to compare texts.

``exact``: equal, apart from white space at the ends. ``normal``: equal after Unicode NFKC, case
folding, and replacing runs of white space by one space. ``number``: both are plain decimal numbers
with the same value, as parsed by `read_number`. ``digits``: the same digits in the same order, and
a leading ``+`` on both or neither; for telephone numbers.
"""
_SIDE_PX = 64
_SAME_LOOK = 0.96
_SAME_BRIGHTNESS = 12.0
_FLAT = 2.0
_BLOCKS = 8
_SAME_BLOCK = 24.0
_TONES = 16
_OTHER_CHANGE = 0.4
_SLACK_PX = 2
_SAMPLES = 64
_SAME_DIFFERENCE = 1.0


def is_same(left: str, right: str, way: ComparisonMethod) -> bool:
    """Return whether two texts are equal by a way of comparison; empty texts never are."""
    left_key, right_key = _key(left, way), _key(right, way)
    return left_key is not None and left_key == right_key


def _key(text: str, way: ComparisonMethod) -> str | Fraction | None:
    plain = text.strip()
    match way:
        case "exact":
            return plain or None
        case "normal":
            return " ".join(fold(plain).casefold().split()) or None
        case "number":
            return read_number(plain)
        case "digits":
            digits = re.sub(r"[^0-9]", "", plain)
            return ("+" if plain.startswith("+") else "") + digits if digits else None


def is_same_picture(
    first: Picture, second: Picture, *, proportion: float = 0.02, everywhere: bool = False
) -> bool:
    """Return whether two pictures look the same; one may be scaled or compressed.

    Both are scaled to 64 by 64 px. The correlation of each colour channel must be at least 0.96,
    and the mean difference at most 12 of 255. Then no tile may show other details, so that a changed
    word on a white page is a difference (`evaluators.look`).

    Args:
        first: a picture.
        second: another.
        proportion: maximum relative difference of the aspect ratios.
        everywhere: whether each of the 8 by 8 parts must also have a mean difference of at most 24
            of 255.
    """
    ratios = [picture.size[0] / picture.size[1] for picture in (first, second)]
    if abs(ratios[0] / ratios[1] - 1) > proportion:
        return False
    for channel in range(3):
        left, right = (
            resized(picture.pixels[:, :, channel].astype(np.float32)) for picture in (first, second)
        )
        if np.abs(left - right).mean() > _SAME_BRIGHTNESS:
            return False
        if everywhere and _by_block(np.abs(left - right)).max() > _SAME_BLOCK:
            return False
        if structure(left, right) < _SAME_LOOK:
            return False
    return has_same_details(first, second)


def resized(grey: Grey) -> Grey:
    """Scale a channel to 64 by 64 px by area; return a float32 array."""
    image = Image.fromarray(np.ascontiguousarray(grey, dtype=np.float32), mode="F")
    scaled = image.resize((_SIDE_PX, _SIDE_PX), Image.Resampling.BOX)
    return np.asarray(scaled, dtype=np.float32)


def _by_block(values: Grey) -> Grey:
    """Return the means of the 8 by 8 parts of a resized channel."""
    side = _SIDE_PX // _BLOCKS
    return np.asarray(values.reshape(_BLOCKS, side, _BLOCKS, side).mean(axis=(1, 3)))


def retoned(source: Grey, other: Grey) -> Grey:
    """Replace each brightness of a channel by the typical brightness of another channel there.

    The median is used, so that painting over a small part has no effect.

    Args:
        source: the channel.
        other: the other one, of the same shape.
    """
    tones = np.empty(source.size, np.float32)
    for places in np.array_split(np.argsort(source, axis=None, kind="stable"), _TONES):
        tones[places] = np.median(other.ravel()[places])
    return tones.reshape(source.shape)


def is_by_tone(channels: Sequence[tuple[Grey, Grey]]) -> bool:
    """Return whether channels changed only as a function of their brightness, independent of position.

    Other differences may be up to two fifths of the total change: a compressed file is below this
    limit, a blurred or half-changed picture above.

    Args:
        channels: pairs of each channel before and after, of the same shape.
    """
    changes = [(source, result - source) for source, result in channels]
    whole = sum(float(np.abs(change).mean()) for _, change in changes)
    other = sum(
        float(np.abs(change - retoned(source, change)).mean()) for source, change in changes
    )
    return other <= _OTHER_CHANGE * whole


def aligned_part(cropped: Picture, source: Picture, left: int, top: int) -> Picture | None:
    """Return the part of a picture that another one shows, at most 2 px from a position.

    Args:
        cropped: the picture that shows the part, at the same scale.
        source: the picture.
        left: left edge of the position, px.
        top: top edge of the position, px.

    Returns:
        The part; None if it is clearly further away.
    """
    width, height = cropped.size
    differences = {
        (x, y): _difference(cropped.pixels, source.pixels[y : y + height, x : x + width])
        for x in _around(left, source.size[0] - width)
        for y in _around(top, source.size[1] - height)
    }
    near = [
        (difference, (x, y))
        for (x, y), difference in differences.items()
        if max(abs(x - left), abs(y - top)) <= _SLACK_PX
    ]
    if not near or min(near)[0] > min(differences.values()) + _SAME_DIFFERENCE:
        return None
    x, y = min(near)[1]
    return source.with_pixels(source.pixels[y : y + height, x : x + width])


def _around(middle: int, last: int) -> range:
    """Return the positions around one, including one more than allowed on each side."""
    return range(max(0, middle - _SLACK_PX - 1), min(last, middle + _SLACK_PX + 1) + 1)


def _difference(first: Pixels, second: Pixels) -> float:
    """Return the mean difference of two pictures of the same size, sampled on a grid."""
    step = min(first.shape[:2]) // _SAMPLES + 1
    return float(np.abs(first[::step, ::step].astype(np.int16) - second[::step, ::step]).mean())


def structure(first: Grey, second: Grey) -> float:
    """Return Pearson's correlation of two channels of the same size, -1 to 1.

    Two channels without structure (standard deviation below 2 of 255) have 1; one channel with and
    one without structure have 0.
    """
    deviations = float(first.std()), float(second.std())
    if max(deviations) < _FLAT:
        return 1.0
    if min(deviations) < _FLAT:
        return 0.0
    centred = (first - first.mean()) * (second - second.mean())
    return float(centred.mean()) / (deviations[0] * deviations[1])
