"""Check before a run that everything is there that its observations need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.observation.marking.icons import icon_finder
from controller.observation.suite_functions import SuiteFunctions
from evaluators.recognition.ocr import text_engine
from provisioning.recording.video import require_pyav

if TYPE_CHECKING:
    from controller.specification.observation import ObservationSpec
    from evaluators.catalogue import Vocabulary


def require_observation(spec: ObservationSpec, vocabulary: Vocabulary) -> None:
    """Check that an observation can be made on this host.

    Args:
        spec: what agents are to receive.
        vocabulary: of the suite, with the functions that it brings.

    Raises:
        UnknownNameError: the suite lacks a function that the observation names.
        RequirementError: a library, a program or a model is missing.
    """
    SuiteFunctions.of(vocabulary).require(spec)
    if spec.video is not None:
        require_pyav()
    if spec.marks is None:
        return
    if "text" in spec.marks.sources:
        text_engine(spec.marks.engine)
    if "icons" in spec.marks.sources:
        icon_finder(spec.marks)
