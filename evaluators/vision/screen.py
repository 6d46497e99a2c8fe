"""Evaluators of a machine's screen and of pictures in files, by recognition.

Any program can draw anything anywhere on a screen: these evaluators prove that something is shown,
not which program shows it. A task should restrict the region, require the right program's window to
be in front in the same node (``and``), and prefer state to appearance. Store templates and other
pictures where the agent cannot write, or give them inline. Coordinates are screen px, origin top
left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from evaluators.decorators import MachinePath, evaluator
from evaluators.pictures import unusable
from evaluators.recognition.features import MatcherName, locate, matcher
from evaluators.recognition.legibility import is_legible, is_whole
from evaluators.recognition.ocr import EngineName, holds, read_text
from evaluators.recognition.templates import find_template, is_flat
from foundation.errors import ObstructedEvaluationError
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from evaluators.machine_view import MachineView
    from evaluators.pictures import Picture, Pixels

Region = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=4, max_length=4)]
"""Left, top, right and bottom in px; the last two are exclusive."""
Share = Annotated[float, Field(gt=0, le=1)]
Px = Annotated[int, Field(ge=1)]
Scale = Annotated[float, Field(gt=0, le=16)]
Colour = Annotated[str, Field(pattern=r"^#?[0-9A-Fa-f]{6}$")]
_MAX_COLOUR_DIFFERENCE = 24.0
_CHANGED = 8
_STILL_SHARE = 0.0005
_LOOKS = (0.19, 0.56, 1.0)
"""Times of further captures, as fractions of the duration; irregular, so that a program cannot blink in step."""


@evaluator(on="vision")
def screen_size_equals(view: MachineView, width: Px, height: Px) -> bool:
    """Return whether a machine's screen has exactly this size.

    Proves the state, not who caused it.

    Args:
        view: the machine.
        width: width in px.
        height: height in px.

    Example:
        ``{on: desktop, check: screen_size_equals, with: {width: 1280, height: 800}}``
    """
    frame = view.frame()
    return (frame.shape[1], frame.shape[0]) == (width, height)


@evaluator(on="vision")
def screen_has_text(
    view: MachineView,
    text: str,
    *,
    region: Region | None = None,
    whole_line: bool = False,
    engine: EngineName = "rapidocr",
) -> bool:
    """Return whether a line of text on the screen contains the given text, recognised by OCR.

    The comparison is case-sensitive and ignores spaces, because OCR loses and inserts them. The
    text must not be next to further letters or digits. Text that continues on a second line is not
    found, and neither is faint text, whose colour differs from its background by 24 of 255 or less.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        text: the text; must not be empty.
        region: left, top, right, bottom in px; must contain the line's centre.
        whole_line: whether the line must contain nothing else.
        engine: the OCR engine; ``easyocr`` needs separately installed weights.

    Example:
        ``{on: desktop, check: screen_has_text, with: {text: Trash, region: [0, 0, 200, 300]}}``
    """
    frame = view.frame()
    bounds = _bounds(region, frame)
    return any(
        _is_within(line.bounds.center, bounds)
        and holds(line.text, text, whole=whole_line)
        and is_legible(frame, line.bounds)
        for line in read_text(frame, engine)
    )


@evaluator(on="vision")
def screen_has_template(
    view: MachineView,
    template: MachinePath,
    *,
    region: Region | None = None,
    least_score: Share = 0.9,
    min_scale: Scale = 1.0,
    max_scale: Scale = 1.0,
) -> bool:
    """Return whether a small picture, such as an icon, is on the screen.

    It is found by normalised correlation of colours; at the best match the mean difference of
    colours may be at most 24 of 255. If the template is missing or has a single colour, the result
    is inconclusive at the start of the trial, and unmet later, because then the agent removed it.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        template: path of a picture on the machine, or ``data:image/png;base64,...``.
        region: left, top, right, bottom in px; must contain the whole picture.
        least_score: minimum correlation.
        min_scale: minimum scale.
        max_scale: maximum scale; five scales between the two are also tried.

    Example:
        ``{on: desktop, check: screen_has_template, with: {template: /srv/icon.png}}``
    """
    wanted = _picture(view, template)
    if is_flat(wanted.pixels):
        raise unusable(template, "The template has a single colour and cannot be found.")
    frame = view.frame()
    bounds = _bounds(region, frame)
    scales = [float(scale) for scale in np.geomspace(min_scale, max_scale, 7)]
    hay = frame[bounds.top : bounds.bottom, bounds.left : bounds.right]
    hit = find_template(wanted.pixels, hay, list(dict.fromkeys(scales)))
    return hit is not None and hit.score >= least_score and hit.difference <= _MAX_COLOUR_DIFFERENCE


@evaluator(on="vision")
def screen_shows_picture(
    view: MachineView,
    picture: MachinePath,
    *,
    region: Region | None = None,
    min_scale: Scale = 0.1,
    max_scale: Scale = 4.0,
    method: MatcherName = "sift",
) -> bool:
    """Return whether the screen shows a picture, at any position and scale, found by its features.

    The picture must be visible except for up to a tenth, upright, in its colours and with its
    aspect ratio.
    A picture with little detail (an icon, a line drawing) is not found; use ``screen_has_template``.
    Proves the state, not who caused it.

    Args:
        view: the machine.
        picture: path of the picture on the machine, or ``data:image/png;base64,...``.
        region: left, top, right, bottom in px; must contain the whole picture, with a tolerance of
            4 px.
        min_scale: minimum scale.
        max_scale: maximum scale.
        method: feature detector; ``xfeat`` needs separately installed weights.

    Example:
        ``{on: desktop, check: screen_shows_picture,
        with: {picture: /srv/cat.png, min_scale: 0.5, max_scale: 1}}``
    """
    frame = view.frame()
    wanted = _picture(view, picture)
    return _is_placed(wanted.pixels, frame, _bounds(region, frame), (min_scale, max_scale), method)


@evaluator(on="vision")
def screen_region_still(
    view: MachineView, region: Region, seconds: Annotated[float, Field(gt=0, le=5)] = 1.0
) -> bool:
    """Return whether a part of the screen does not change for a time, in four captures.

    A part is unchanged if at most one px in two thousand differs by more than 8 of 255. A blinking
    cursor is a change; a change that is reversed between two captures is not noticed. Proves the
    state, not who caused it.

    Args:
        view: the machine.
        region: left, top, right, bottom in px.
        seconds: the duration.

    Example:
        ``{on: desktop, check: screen_region_still, with: {region: [0, 0, 640, 400]}}``
    """
    first = view.fresh_frame()
    bounds = _bounds(region, first)
    waited = 0.0
    for share in _LOOKS:
        view.clock.sleep(seconds * (share - waited))
        waited = share
        now = view.fresh_frame()
        if now.shape != first.shape or not _is_still(_cut(first, bounds), _cut(now, bounds)):
            return False
    return True


@evaluator(on="vision")
def screen_region_coloured(
    view: MachineView,
    region: Region,
    colour: Colour,
    *,
    share: Share = 0.95,
    tolerance: Annotated[int, Field(ge=0, le=128)] = 12,
) -> bool:
    """Return whether a part of the screen has the given colour.

    Proves the state, not who caused it.

    Args:
        view: the machine.
        region: left, top, right, bottom in px.
        colour: colour as hexadecimal ``rrggbb``.
        share: minimum fraction of the part's px that have the colour.
        tolerance: maximum difference of each of red, green and blue, of 255.

    Example:
        ``{on: desktop, check: screen_region_coloured,
        with: {region: [0, 0, 64, 64], colour: 2e3436}}``
    """
    frame = view.frame()
    part = _cut(frame, _bounds(region, frame)).astype(np.int16)
    wanted = np.frombuffer(bytes.fromhex(colour.lstrip("#")), np.uint8).astype(np.int16)
    is_near = (np.abs(part - wanted) <= tolerance).all(axis=2)
    return bool(is_near.mean() >= share)


@evaluator(on="vision")
def image_has_text(
    view: MachineView, path: MachinePath, text: str, *, whole_line: bool = False,
    engine: EngineName = "rapidocr",
) -> bool:  # fmt: skip
    """Return whether a line of text in a picture file contains the given text, recognised by OCR.

    The comparison is that of ``screen_has_text``. A file that is missing or corrupt is unmet.
    Proves the state, not
    who caused it.

    Args:
        view: the machine.
        path: path of the picture.
        text: the text; must not be empty.
        whole_line: whether the line must contain nothing else.
        engine: the OCR engine; ``easyocr`` needs separately installed weights.

    Example:
        ``{on: desktop, check: image_has_text, with: {path: ~/shot.png, text: Invoice 7}}``
    """
    picture = view.picture(path)
    if picture is None:
        return False
    return any(
        holds(line.text, text, whole=whole_line) and is_legible(picture.pixels, line.bounds)
        for line in read_text(picture.pixels, engine)
    )


@evaluator(on="vision")
def image_contains_picture(
    view: MachineView,
    path: MachinePath,
    picture: MachinePath,
    *,
    region: Region | None = None,
    min_scale: Scale = 0.1,
    max_scale: Scale = 4.0,
    method: MatcherName = "sift",
) -> bool:
    """Return whether a picture file contains another picture, at any position and scale.

    It is found by features, as in ``screen_shows_picture``. A file that is missing or corrupt is
    unmet; if the other picture is missing or corrupt, the result is inconclusive at the start of
    the trial, and unmet later. Proves the
    state, not who caused it.

    Args:
        view: the machine.
        path: path of the picture that contains the other.
        picture: path of the other one, or ``data:image/png;base64,...``.
        region: left, top, right, bottom in px of the file; must contain the whole picture.
        min_scale: minimum scale.
        max_scale: maximum scale.
        method: feature detector; ``xfeat`` needs separately installed weights.

    Example:
        ``{on: desktop, check: image_contains_picture,
        with: {path: ~/collage.png, picture: /srv/cat.png}}``
    """
    wanted = _picture(view, picture)
    image = view.picture(path)
    if image is None:
        return False
    bounds = _bounds(region, image.pixels)
    return _is_placed(wanted.pixels, image.pixels, bounds, (min_scale, max_scale), method)


def _is_placed(
    needle: Pixels, hay: Pixels, bounds: Bounds, scales: tuple[float, float], method: MatcherName
) -> bool:
    placed = locate(needle, hay, matcher(method))
    slack = 4
    return (
        placed is not None
        and scales[0] <= placed.scale <= scales[1]
        and placed.left >= bounds.left - slack
        and placed.top >= bounds.top - slack
        and placed.right <= bounds.right + slack
        and placed.bottom <= bounds.bottom + slack
        and is_whole(needle, hay, placed)
    )


def _picture(view: MachineView, source: str) -> Picture:
    picture = view.picture(source)
    if picture is None:
        raise unusable(source, "The picture to find is missing or unreadable.", source[:200])
    return picture


def _bounds(region: Region | None, pixels: Pixels) -> Bounds:
    height, width = pixels.shape[:2]
    left, top, right, bottom = region or (0, 0, width, height)
    if not (left < right <= width and top < bottom <= height):
        raise ObstructedEvaluationError(
            f"The region {region} is empty or extends beyond the picture.",
            details=f"The picture has {width}x{height} px.",
        )
    return Bounds(left, top, right, bottom)


def _cut(pixels: Pixels, bounds: Bounds) -> Pixels:
    return pixels[bounds.top : bounds.bottom, bounds.left : bounds.right]


def _is_still(before: Pixels, after: Pixels) -> bool:
    change = np.abs(before.astype(np.int16) - after.astype(np.int16)).max(axis=2)
    return bool((change > _CHANGED).mean() <= _STILL_SHARE)


def _is_within(point: tuple[int, int], bounds: Bounds) -> bool:
    x, y = point
    return bounds.left <= x < bounds.right and bounds.top <= y < bounds.bottom
