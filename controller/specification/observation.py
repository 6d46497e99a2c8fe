"""Specification of observations: what an agent receives before it acts, as data."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from controller.specification.agent import Record
from evaluators.recognition.ocr import EngineName  # noqa: TC001 - pydantic reads it

Format = Literal["png", "jpeg", "webp"]
Fit = Literal["scale", "letterbox", "stretch"]
MarkSource = Literal["tree", "text", "icons"]
IconDetector = Literal["contours", "groundingdino"]
Feedback = Literal["none", "hints", "nodes"]

_MAX_PX: Final = 8192


def _switched(value: object) -> object:
    """Read ``true`` as a part with its defaults, and ``false`` as no such part."""
    if value is True:
        return {}
    return None if value is False else value


class ImageSpec(Record):
    """How a screenshot is encoded for an agent.

    Attributes:
        format: its file format; ``png`` is lossless.
        quality: quality of ``jpeg`` and ``webp``, 1 to 100.
        width: width in px that it must fit in, or has with ``letterbox`` and ``stretch``; None for
            that of the screen.
        height: height in px, likewise.
        fit: how it gets that size: ``scale`` keeps the sides' ratio and never enlarges, ``letterbox``
            fills up with black, ``stretch`` changes the ratio.
    """

    format: Format = "png"
    quality: int = Field(default=85, ge=1, le=100)
    width: int | None = Field(default=None, ge=16, le=_MAX_PX)
    height: int | None = Field(default=None, ge=16, le=_MAX_PX)
    fit: Fit = "scale"


class MarksSpec(Record):
    """The set of marks: numbered elements.

    Attributes:
        sources: what finds elements, in this order; a later source is used where the earlier ones
            found nothing.
        engine: engine that recognises text.
        detector: detector of icons.
        prompt: what ``groundingdino`` searches, each kind followed by a full stop.
        is_drawn: whether numbered boxes are drawn on the picture.
        is_listed: whether the same list is given as text.
        is_stable: whether an element keeps its number between observations; otherwise each
            observation counts from 1.
    """

    sources: tuple[MarkSource, ...] = ("tree", "text", "icons")
    engine: EngineName = "rapidocr"
    detector: IconDetector = "contours"
    prompt: str = Field(default="icon.logo.", min_length=1, max_length=500)
    is_drawn: bool = True
    is_listed: bool = True
    is_stable: bool = True


class TreeTextSpec(Record):
    """The accessibility tree as compact text.

    Attributes:
        max_chars: budget in characters; less important elements are left out first.
        has_states: whether states are written.
        has_unnamed: whether controls without a name are written.
    """

    max_chars: int = Field(default=12_000, ge=200, le=1_000_000)
    has_states: bool = True
    has_unnamed: bool = True


class VideoSpec(Record):
    """The video of the last step, from before the action until the screen has settled.

    Attributes:
        rate_hz: maximum number of frames per second.
        max_frames: maximum number of frames; of more, evenly spaced ones are kept.
    """

    rate_hz: float = Field(default=4.0, gt=0, le=15, allow_inf_nan=False)
    max_frames: int = Field(default=16, ge=2, le=200)


_Marks = Annotated[MarksSpec | None, BeforeValidator(_switched)]
_TreeText = Annotated[TreeTextSpec | None, BeforeValidator(_switched)]
_Video = Annotated[VideoSpec | None, BeforeValidator(_switched)]


class ObservationSpec(Record):
    """What agents receive before they act. The defaults are screenshots alone.

    Fields that have their default are not written, so that old runs keep their digests.

    Attributes:
        trees: whether they receive the machines' accessibility trees as data.
        feedback: progress of the task: none, hints of unmet nodes, or all nodes.
        screenshots: whether models receive screenshots.
        image: how screenshots are encoded for models.
        previous: whether they also receive the screenshots before the last step.
        last_click: whether the place of the last click is boxed in the picture.
        marks: the set of marks; None for none.
        tree_text: the accessibility trees as compact text; None for none.
        video: the video of the last step; None for none.
        clipboard: whether they receive the text of desktops' clipboards.
        environments: whether models are told what each machine is.
        others: whether they also receive the last frames of machines that they did not act on.
        settle: ``still`` waits until the screen has settled after an action; ``none`` observes in
            real time, without waiting.
        functions: observation functions of the suite whose results they receive, by name.
        visual_prompt: visual-prompt function of the suite, which makes marks and picture instead.
    """

    trees: bool = False
    feedback: Feedback = "none"
    screenshots: bool = Field(default=True, exclude_if=lambda value: value)
    image: ImageSpec = Field(default=ImageSpec(), exclude_if=lambda value: value == ImageSpec())
    previous: bool = Field(default=False, exclude_if=lambda value: not value)
    last_click: bool = Field(default=False, exclude_if=lambda value: not value)
    marks: _Marks = Field(default=None, exclude_if=lambda value: value is None)
    tree_text: _TreeText = Field(default=None, exclude_if=lambda value: value is None)
    video: _Video = Field(default=None, exclude_if=lambda value: value is None)
    clipboard: bool = Field(default=False, exclude_if=lambda value: not value)
    environments: bool = Field(default=False, exclude_if=lambda value: not value)
    others: bool = Field(default=True, exclude_if=lambda value: value)
    settle: Literal["still", "none"] = Field(
        default="still", exclude_if=lambda value: value == "still"
    )
    functions: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    visual_prompt: str = Field(default="", exclude_if=lambda value: not value)

    def with_parts(self, *, trees: bool, feedback: Feedback) -> ObservationSpec:
        """Return this observation, with trees and feedback if they are requested apart from it."""
        parts: dict[str, object] = {"trees": True} if trees else {}
        if feedback != "none":
            parts["feedback"] = feedback
        return self.model_copy(update=parts)

    @property
    def needs_trees(self) -> bool:
        """Whether accessibility trees are read for observations."""
        marks = self.marks is not None and "tree" in self.marks.sources
        return self.trees or marks or self.tree_text is not None
