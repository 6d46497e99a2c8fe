"""The message that shows an observation to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.models.messages import Image, Message, Role
from controller.observation.pictures import Picture
from controller.observation.tree_text import describe_elements

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.observation.observer import Observation

_PROGRESS = "Progress on the task:"
_RETURNED = "Returned by {call}:"
_PICTURE = "{role}, {width} x {height} px:"
_PREVIOUS = "{role} before the last step, {width} x {height} px:"
_VIDEO = "{role} during the last step, {count} frames, at {times} s:"
TEXTS = (_PROGRESS, _RETURNED, _PICTURE, _PREVIOUS, _VIDEO)
"""What determines the message, for the digest of prompts."""


def pictures_of(observation: Observation, scale: float) -> dict[str, Picture]:
    """Return the present picture of each machine; coordinates of actions refer to it.

    Args:
        observation: the observation.
        scale: factor by which pictures are made smaller for the model.
    """
    return {
        role: (observation.pictures.get(role) or Picture(shot.frame, png=shot.png)).scaled(scale)
        for role, shot in observation.shots.items()
    }


def show(observation: Observation, pictures: Mapping[str, Picture]) -> Message:
    """Return the message of an observation.

    Args:
        observation: the observation.
        pictures: the present picture of each machine.
    """
    parts: list[str | Image] = []
    if observation.progress:
        parts.append("\n".join((_PROGRESS, *observation.progress)))
    for result in observation.results:
        if result.png:
            parts += [_RETURNED.format(call=result.call), Image(result.png)]
    for role, picture in pictures.items():
        parts += _machine(role, observation, picture)
    return Message(Role.USER, tuple(parts))


def _machine(role: str, observation: Observation, picture: Picture) -> Iterator[str | Image]:
    width, height = picture.size_px
    sizes = {"role": role, "width": width, "height": height}
    if role in observation.previous:
        before = observation.previous[role].resized(picture)
        yield _PREVIOUS.format(**sizes)
        yield Image(before.data(), before.media_type)
    clip = observation.clips.get(role)
    if clip is not None and len(clip.frames) > 1:
        times = ", ".join(f"{at_s:.1f}" for at_s in clip.times_s)
        yield _VIDEO.format(role=role, count=len(clip.frames), times=times)
        for frame in clip.frames:
            shown = Picture(frame).resized(picture)
            yield Image(shown.data(), shown.media_type)
    # A run without screenshots has no pictures, and the size for coordinates is all that is shown.
    yield _PICTURE.format(**sizes)
    if role in observation.pictures or not observation.texts.get(role):
        yield Image(picture.data(), picture.media_type)
    yield from observation.texts.get(role, ())
    if role in observation.trees:
        yield describe_elements(observation.trees[role], picture)
