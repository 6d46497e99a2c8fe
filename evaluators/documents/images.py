"""Evaluators of picture files: their size and format, and their differences from an original.

A file does not show which program created it: these evaluators check only the picture. If a file
has several pictures, the first one counts.

If an original is missing or corrupt, the result is inconclusive at the start of the trial, and
unmet later, because then the agent removed it. Store originals where the agent cannot write, or
give them inline; elsewhere they can be replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from evaluators.comparing import (
    aligned_part,
    is_by_tone,
    is_same_picture,
    resized,
    retoned,
    structure,
)
from evaluators.decorators import MachinePath, evaluator
from evaluators.pictures import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from evaluators.comparing import Grey
    from evaluators.machine_view import MachineView
    from evaluators.pictures import Picture

Px = Annotated[int, Field(ge=1)]
_SAME_STRUCTURE = 0.9
_LEAST_BRIGHTNESS = 3.0
_LEAST_CONTRAST = 0.05
_GREY_SPREAD = 4
_COLOURED_SHARE = 0.0005
_CROP_SLACK_PX = 2
_HALF_GAPS_PX = (0, 1, 2)


@evaluator(on="documents")
def image_size_equals(view: MachineView, path: MachinePath, width: Px, height: Px) -> bool:
    """Return whether a picture file has exactly the given size, in its EXIF orientation.

    Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the PNG, JPEG, BMP, GIF, TIFF or WebP file.
        width: width in px.
        height: height in px.

    Example:
        ``{on: desktop, check: image_size_equals, with: {path: ~/a.png, width: 64, height: 48}}``
    """
    picture = view.picture(path)
    return picture is not None and picture.size == (width, height)


@evaluator(on="documents")
def image_format_is(
    view: MachineView,
    path: MachinePath,
    format: Literal["PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP"],  # noqa: A002
) -> bool:
    """Return whether a picture file has the given format, based on its content and not its name.

    A JPEG with further pictures (MPO), as written by cameras, counts as JPEG. Proves the state, not
    who
    caused it.

    Args:
        view: the machine.
        path: path of the file.
        format: the format.

    Example:
        ``{on: desktop, check: image_format_is, with: {path: ~/a.jpg, format: JPEG}}``
    """
    picture = view.picture(path)
    return picture is not None and picture.format == format


@evaluator(on="documents")
def image_same_as(view: MachineView, path: MachinePath, original: MachinePath) -> bool:
    """Return whether a picture file looks like an original, apart from scale and file format.

    Its aspect ratio may differ from the original's by at most one part in fifty, and no part may be
    replaced, not even a word on a page of text, if it can still be read at the picture's size. A
    picture that lost its details and was enlarged again is unmet. Proves the state, not who caused
    it.

    Args:
        view: the machine.
        path: path of the picture.
        original: path of the original, or ``data:image/png;base64,...``.

    Example:
        ``{on: desktop, check: image_same_as, with: {path: ~/a.jpg, original: /srv/cat.png}}``
    """
    picture, source = view.picture(path), _original(view, original)
    return picture is not None and is_same_picture(picture, source, everywhere=True)


@evaluator(on="documents")
def image_brightness_changed(
    view: MachineView,
    path: MachinePath,
    original: MachinePath,
    direction: Literal["brighter", "darker"],
) -> bool:
    """Return whether a picture is a brighter, or darker, version of an original with the same content.

    Its mean brightness must differ by at least 3 of 255 in that direction, its size must be the
    original's, and its structure must be kept (correlation of brightness at least 0.9). Equally
    bright parts must have changed equally: a picture of which only one half is darker is unmet.
    Painting over small parts is ignored. Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the picture.
        original: path of the original, or ``data:image/png;base64,...``.
        direction: direction of the change.

    Example:
        ``{on: desktop, check: image_brightness_changed,
        with: {path: ~/a.png, original: /srv/cat.png, direction: darker}}``
    """
    tones = _tones(view, path, _original(view, original))
    if tones is None:
        return False
    before, after = tones
    change = round(float(after.mean() - before.mean()), 2)
    return (change if direction == "brighter" else -change) >= _LEAST_BRIGHTNESS


@evaluator(on="documents")
def image_contrast_changed(
    view: MachineView, path: MachinePath, original: MachinePath, direction: Literal["more", "less"]
) -> bool:
    """Return whether a picture is a version of an original with more, or less, contrast and the same content.

    The standard deviation of its brightness must differ by at least a twentieth in that direction,
    its size must be the original's, and its structure must be kept (correlation at least 0.9). Equally
    bright parts must have changed equally: a blurred or sharpened picture is unmet. Painting over
    small parts is ignored. Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the picture.
        original: path of the original, or ``data:image/png;base64,...``.
        direction: direction of the change.

    Example:
        ``{on: desktop, check: image_contrast_changed,
        with: {path: ~/a.png, original: /srv/cat.png, direction: more}}``
    """
    tones = _tones(view, path, _original(view, original))
    if tones is None:
        return False
    before, after = tones
    change = float(after.std() / before.std()) - 1
    return (change if direction == "more" else -change) >= _LEAST_CONTRAST


@evaluator(on="documents")
def image_made_grey(view: MachineView, path: MachinePath, original: MachinePath) -> bool:
    """Return whether a picture is a greyscale version of a coloured original.

    The grey may be the original's luma, mean, lightness or value. At most one px in two thousand
    may still have a colour. Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the picture.
        original: path of the original, or ``data:image/png;base64,...``; must be coloured.

    Example:
        ``{on: desktop, check: image_made_grey, with: {path: ~/a.png, original: /srv/cat.png}}``
    """
    source = _original(view, original)
    if _is_grey(source):
        raise unusable(original, "The original has no colours.")
    picture = view.picture(path)
    if picture is None or picture.size != source.size or not _is_grey(picture):
        return False
    level = resized(picture.grey())
    return any(structure(level, resized(grey)) >= _SAME_STRUCTURE for grey in _greys(source))


@evaluator(on="documents")
def image_turned(
    view: MachineView,
    path: MachinePath,
    original: MachinePath,
    how: Literal["clockwise", "counterclockwise", "upside_down", "mirrored", "flipped"],
) -> bool:
    """Return whether a picture is an original, rotated or mirrored in the given way.

    A rotation that is only in the EXIF orientation counts. Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the picture.
        original: path of the original, or ``data:image/png;base64,...``.
        how: ``clockwise`` and ``counterclockwise`` by 90 degrees, ``upside_down`` by 180 degrees,
            ``mirrored`` left to right, ``flipped`` top to bottom.

    Example:
        ``{on: desktop, check: image_turned,
        with: {path: ~/a.png, original: /srv/cat.png, how: clockwise}}``
    """
    source = _original(view, original)
    variants = {
        "clockwise": np.rot90(source.pixels, -1),
        "counterclockwise": np.rot90(source.pixels, 1),
        "upside_down": np.rot90(source.pixels, 2),
        "mirrored": source.pixels[:, ::-1],
        "flipped": source.pixels[::-1],
    }
    picture = view.picture(path)
    if picture is None:
        return False
    if any(
        is_same_picture(picture, source.with_pixels(variant))
        for name, variant in {**variants, "": source.pixels}.items()
        if name != how
    ):
        return False
    return is_same_picture(picture, source.with_pixels(variants[how]))


@evaluator(on="documents")
def image_cropped(
    view: MachineView,
    path: MachinePath,
    original: MachinePath,
    *,
    left: int,
    top: int,
    width: Px,
    height: Px,
) -> bool:
    """Return whether a picture is the given part of an original.

    Position and size may differ by up to 2 px in each direction. Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the picture.
        original: path of the original, or ``data:image/png;base64,...``.
        left: left edge of the part, px of the original.
        top: top edge of the part.
        width: width of the part.
        height: height of the part.

    Example:
        ``{on: desktop, check: image_cropped, with: {path: ~/a.png, original: /srv/cat.png,
        left: 10, top: 10, width: 40, height: 30}}``
    """
    source = _original(view, original)
    if left < 0 or top < 0 or left + width > source.size[0] or top + height > source.size[1]:
        raise unusable(original, "The part extends beyond the original.")
    picture = view.picture(path)
    if picture is None or any(
        abs(seen - wanted) > _CROP_SLACK_PX
        for seen, wanted in zip(picture.size, (width, height), strict=True)
    ):
        return False
    part = aligned_part(picture, source, left, top)
    return part is not None and is_same_picture(picture, part)


@evaluator(on="documents")
def images_side_by_side(
    view: MachineView,
    path: MachinePath,
    first: MachinePath,
    second: MachinePath,
    direction: Literal["horizontal", "vertical"] = "horizontal",
) -> bool:
    """Return whether a picture consists of two originals, next to or above each other.

    Each original must fill its part of the picture at any scale, with its aspect ratio within one
    part in ten and its appearance unchanged; between them may be up to 4 px. The first one is on
    the left or above. Proves the state, not who caused it.

    Args:
        view: the machine.
        path: path of the picture.
        first: path of the first original, or ``data:image/png;base64,...``.
        second: path of the second original, likewise.
        direction: ``horizontal`` for side by side, ``vertical`` for one above the other.

    Example:
        ``{on: desktop, check: images_side_by_side,
        with: {path: ~/ab.png, first: /srv/a.png, second: /srv/b.png}}``
    """
    first_original, second_original = _original(view, first), _original(view, second)
    combined = view.picture(path)
    if combined is None:
        return False
    pixels = combined.pixels if direction == "horizontal" else combined.pixels.transpose(1, 0, 2)
    parts = [
        picture.pixels if direction == "horizontal" else picture.pixels.transpose(1, 0, 2)
        for picture in (first_original, second_original)
    ]
    ratios = [part.shape[1] / part.shape[0] for part in parts]
    cut = round(pixels.shape[1] * ratios[0] / sum(ratios))
    return all(
        any(
            is_same_picture(combined.with_pixels(seen), combined.with_pixels(part), proportion=0.1)
            for seen in candidates
            if seen.size
        )
        for candidates, part in (
            ([pixels[:, : max(cut - gap, 0)] for gap in _HALF_GAPS_PX], parts[0]),
            ([pixels[:, cut + gap :] for gap in _HALF_GAPS_PX], parts[1]),
        )
    )


def _original(view: MachineView, source: str) -> Picture:
    picture = view.picture(source)
    if picture is None:
        raise unusable(source, "The original is missing or unreadable.", source[:200])
    return picture


def _tones(view: MachineView, path: str, source: Picture) -> tuple[Grey, Grey] | None:
    """Return the brightness of an original and of a picture, if only the tones differ.

    Return None if the picture has another size or structure, or if more than its tones changed.
    """
    picture = view.picture(path)
    if picture is None or picture.size != source.size:
        return None
    before, after = resized(source.grey()), resized(picture.grey())
    if structure(before, after) < _SAME_STRUCTURE:
        return None
    if not is_by_tone([(before, after)]) and not is_by_tone(_colours(source, picture)):
        return None
    return retoned(before, before), retoned(before, after)


def _colours(source: Picture, edited: Picture) -> list[tuple[Grey, Grey]]:
    """Return the red, green and blue channels of two pictures, which saturate at different tones."""
    before, after = (
        [resized(channel) for channel in picture.pixels.transpose(2, 0, 1).astype(np.float32)]
        for picture in (source, edited)
    )
    return list(zip(before, after, strict=True))


def _greys(picture: Picture) -> Iterator[npt.NDArray[np.float32]]:
    """Iterate over the greyscale versions that programs create: luma, mean, lightness, value."""
    pixels = picture.pixels.astype(np.float32)
    highest, lowest = pixels.max(axis=2), pixels.min(axis=2)
    yield from (picture.grey(), pixels.mean(axis=2), (highest + lowest) / 2, highest)


def _is_grey(picture: Picture) -> bool:
    spread = np.ptp(picture.pixels.astype(np.int16), axis=2)
    return bool((spread > _GREY_SPREAD).mean() <= _COLOURED_SHARE)
