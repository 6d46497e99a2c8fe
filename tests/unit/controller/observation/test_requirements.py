from __future__ import annotations

import pytest

from controller.actions.vocabulary import vocabulary
from controller.observation.requirements import require_observation
from controller.specification.presets import parse_observation
from foundation.errors import RequirementError, UnknownNameError


def test_what_is_installed_is_enough() -> None:
    for options in (
        ["screenshot"],
        ["tree"],
        ["marks", "marks.sources=[tree,icons]", "video=true"],
    ):
        require_observation(parse_observation(options), vocabulary())


def test_a_missing_model_is_noticed_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MESOCOSM_VISION_GROUNDING_DIR", raising=False)
    spec = parse_observation(["crab", "marks.sources=[icons]"])
    with pytest.raises(RequirementError) as caught:
        require_observation(spec, vocabulary())
    assert "MESOCOSM_VISION_GROUNDING_DIR" in caught.value.resolution


def test_a_missing_function_is_noticed_before_the_run() -> None:
    with pytest.raises(UnknownNameError, match="visual-prompt"):
        require_observation(parse_observation(["visual_prompt=halves"]), vocabulary())
