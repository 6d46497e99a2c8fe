from __future__ import annotations

import typing
from typing import TYPE_CHECKING

import pytest

from appliance.cli.run_request import read_options
from controller.service.web.run_form import RunForm
from controller.specification.observation import MarksSpec, ObservationSpec, TreeTextSpec, VideoSpec
from controller.specification.presets import (
    PRESETS,
    PROFILES,
    Profile,
    fields,
    parse_observation,
)
from controller.specification.request import RunRequest, parse_request
from foundation.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_defaults_are_screenshots_alone_and_write_what_old_runs_wrote() -> None:
    spec = parse_observation([])
    assert spec == ObservationSpec() == PRESETS["screenshot"]
    assert spec.model_dump(mode="json") == {"trees": False, "feedback": "none"}
    assert not spec.needs_trees


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_being_written_and_read(name: str) -> None:
    spec = PRESETS[name]
    assert ObservationSpec.model_validate(spec.model_dump(mode="json")) == spec
    assert parse_observation([name]) == spec


def test_options_change_what_is_before_them() -> None:
    spec = parse_observation(
        ["marks", "marks.sources=[tree, text]", "image.format=webp", "image.width=1024",
         "video=true", "tree_text.max_chars=500", "settle=none"]
    )  # fmt: skip
    assert spec.marks == MarksSpec(sources=("tree", "text"))
    assert (spec.image.format, spec.image.width, spec.image.height) == ("webp", 1024, None)
    assert (spec.video, spec.settle) == (VideoSpec(), "none")
    assert spec.tree_text == TreeTextSpec(max_chars=500)
    assert parse_observation(["marks", "marks=false"]).marks is None
    assert parse_observation(["video=true", "screenshot"]) == ObservationSpec()


def test_crab_sees_only_pictures_with_marks_that_count_from_1() -> None:
    spec = PRESETS["crab"]
    assert spec.marks is not None
    assert not spec.needs_trees
    assert (spec.marks.detector, spec.marks.engine) == ("groundingdino", "easyocr")
    assert (spec.marks.prompt, spec.marks.is_stable) == ("icon.logo.", False)
    assert spec.environments


def test_unknown_names_are_answered_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="observation") as caught:
        parse_observation(["mark"])
    assert "marks" in str(caught.value.resolution) + caught.value.details
    with pytest.raises(UnknownNameError, match=r"image\.formt"):
        parse_observation(["image.formt=png"])
    assert "marks.is_drawn" in fields()


@pytest.mark.parametrize("option", ["image.width=2", "marks.sources=[dreams]", "video.rate_hz=0"])
def test_invalid_values_name_their_field(option: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_observation([option])
    assert option.partition("=")[0].split(".")[1] in caught.value.details


def test_values_that_are_not_yaml_are_refused() -> None:
    with pytest.raises(UsageError, match="YAML"):
        parse_observation(["marks.sources=[tree"])


def test_a_request_adds_trees_and_feedback_to_its_observation() -> None:
    request = RunRequest(suite="s", observation=PRESETS["marks"], trees=True, feedback="hints")
    whole = request.whole_observation
    assert (whole.trees, whole.feedback, whole.marks) == (True, "hints", MarksSpec())
    kept = RunRequest(suite="s", observation=ObservationSpec(trees=True, feedback="nodes"))
    assert kept.whole_observation == kept.observation


def test_the_page_offers_every_preset() -> None:
    offered = typing.get_args(RunForm.model_fields["observation"].annotation)
    assert {*offered} - {""} == PRESETS.keys()


def test_the_profile_crab_keeps_two_past_turns_and_allows_fifteen(tmp_path: Path) -> None:
    values = read_options(str(tmp_path), profile="crab", fleet="fake")
    request = parse_request(values)
    assert request.observation == PRESETS["crab"]
    assert (request.history, request.pictures) == (3, 3)
    assert (request.limits.turns, request.limits.steps) == (15, 300)
    assert request.action_set == "crab"
    own = parse_request(
        read_options(
            str(tmp_path), profile="crab", fleet="fake", max_turns=4, history=9,
            observe=["image.format=webp"], action_set="own", pictures=1, max_steps=20,
        )
    )  # fmt: skip
    assert (own.history, own.limits.turns, own.observation.image.format) == (9, 4, "webp")
    assert (own.action_set, own.pictures, own.limits.steps) == ("own", 1, 20)
    assert PROFILES[""] == Profile()
