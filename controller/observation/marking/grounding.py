"""GroundingDINO through transformers: finds what a text describes, as CRAB finds icons.

Source: Liu et al., arXiv 2303.05499; transformers' ``GroundingDinoForObjectDetection``; CRAB, arXiv
2407.01511, uses it with the text ``icon.logo.``.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from controller.observation.marking.candidates import LEAST_SIDE_PX, area_px, overlap
from evaluators.recognition.extras import need
from evaluators.recognition.settings import VisionSettings
from foundation.errors import RequirementError
from provisioning.protocols import Bounds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    Frame = npt.NDArray[np.uint8]

WEIGHTS = "model.safetensors"
_BOX_THRESHOLD = 0.05
_TEXT_THRESHOLD = 0.5
_SAME_RATIO = 0.5
_LARGEST_SHARE = 0.1
"""A box of a larger share of the screen is no icon."""


class GroundingFinder:
    """Finds icons with a model in a local folder; nothing is downloaded.

    Args:
        folder: folder of the model as transformers saves it, with weights in `WEIGHTS`.
        prompt: what to find, each kind followed by a full stop.
        box_threshold: least score of a box.
        text_threshold: least score of its text.

    Raises:
        RequirementError: the extra ``grounding`` is not installed, or the model cannot be loaded.
    """

    def __init__(
        self,
        folder: Path,
        prompt: str,
        *,
        box_threshold: float = _BOX_THRESHOLD,
        text_threshold: float = _TEXT_THRESHOLD,
    ) -> None:
        self._torch = need("torch", "grounding")
        transformers = need("transformers", "grounding")
        try:
            options = {"local_files_only": True}
            self._processor: Any = transformers.AutoProcessor.from_pretrained(folder, **options)
            self._model: Any = transformers.GroundingDinoForObjectDetection.from_pretrained(
                folder, use_safetensors=True, **options
            )
        except (OSError, ValueError) as exc:
            raise RequirementError(
                f"{folder} has no model of GroundingDINO.",
                details=str(exc)[:400],
                resolution="Set MESOCOSM_VISION_GROUNDING_DIR to a folder as transformers saves it.",
            ) from exc
        self._model.eval()
        self._prompt = prompt
        self._box_threshold, self._text_threshold = box_threshold, text_threshold

    def find(self, frame: Frame, scale: float = 1.0) -> Sequence[Bounds]:
        """Return the boxes, those with the highest score first, without duplicates."""
        del scale  # the model finds icons of any size
        height, width = frame.shape[:2]
        image = np.ascontiguousarray(frame)
        inputs = self._processor(images=image, text=self._prompt, return_tensors="pt")
        with self._torch.inference_mode():
            outputs = self._model(**inputs)
        (found,) = self._processor.post_process_grounded_object_detection(
            outputs,
            inputs["input_ids"],
            threshold=self._box_threshold,
            text_threshold=self._text_threshold,
            target_sizes=[(height, width)],
        )
        rows = zip(found["scores"].tolist(), found["boxes"].tolist(), strict=True)
        return _distinct([box for _, box in sorted(rows, reverse=True)], width, height)


def _distinct(boxes: Sequence[Sequence[float]], width: int, height: int) -> list[Bounds]:
    """Return boxes on the screen that are neither large nor repeat one with a higher score."""
    kept: list[Bounds] = []
    for left, top, right, bottom in boxes:
        box = Bounds(
            max(0, round(left)),
            max(0, round(top)),
            min(width, round(right)),
            min(height, round(bottom)),
        )
        is_small = area_px(box) <= _LARGEST_SHARE * width * height
        is_hittable = min(box.right - box.left, box.bottom - box.top) >= LEAST_SIDE_PX
        if is_small and is_hittable and not any(_is_same(box, other) for other in kept):
            kept.append(box)
    return kept


def _is_same(one: Bounds, other: Bounds) -> bool:
    common = area_px(overlap(one, other))
    return common > _SAME_RATIO * min(area_px(one), area_px(other))


@cache
def grounding_finder(prompt: str) -> GroundingFinder:
    """Return the detector of this process, with the model that the settings name.

    Raises:
        RequirementError: the extra is not installed, or the model is missing or not the expected one.
    """
    settings = VisionSettings()
    folder = settings.grounding_dir
    if folder is None or not (folder / WEIGHTS).is_file():
        raise RequirementError(
            "The model GroundingDINO is missing.",
            details=f"Folder: {folder or 'not set'}; it needs the file {WEIGHTS}.",
            resolution="Set MESOCOSM_VISION_GROUNDING_DIR to its folder, as transformers saves it.",
        )
    digest = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    if settings.grounding_sha256 and digest != settings.grounding_sha256.strip().lower():
        raise RequirementError(
            f"{folder / WEIGHTS} is not the expected file of weights.",
            details=f"SHA-256 {digest}, expected {settings.grounding_sha256}.",
            resolution="Correct MESOCOSM_VISION_GROUNDING_SHA256, or restore the file.",
        )
    return GroundingFinder(folder, prompt)
