from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.experiments.definition import read_experiment
from controller.experiments.rows import digest_of, request_of
from foundation.errors import SpecError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "name: one\nsuite: smoke\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "matrix.yaml"
    path.write_text(text)
    return path


def test_rows_are_listed_and_crossed(tmp_path: Path) -> None:
    text = (
        HEAD
        + """\
all: {agent: noop, limits: {steps: 9, turns: 5}}
rows:
  - {name: first, agent: oracle}
  - {name: second, limits: {turns: 2}}
cross:
  agents:
    small: {agent: model, model: s}
    large: {agent: model, model: l}
  observations:
    plain: {observe: screenshot}
    marks: {observe: [marks, "marks.sources=[tree]"]}
"""
    )
    experiment, _ = read_experiment(write(tmp_path, text))
    rows = dict(experiment.named_rows())
    assert list(rows) == [
        *("first", "second"),
        *("small, plain", "small, marks", "large, plain", "large, marks"),
    ]
    assert (rows["first"].agent, rows["second"].agent) == ("oracle", "noop")
    limits = rows["second"].limits
    assert limits is not None
    assert (limits.steps, limits.turns) == (9, 2)
    request = request_of(experiment, rows["large, marks"], tmp_path)
    assert (request.model, request.limits.turns) == ("l", 5)
    assert request.observation.marks is not None
    assert request.observation.marks.sources == ("tree",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}rows:\n  - {{name: a, modle: x}}\n", ["matrix.yaml:4", "'modle'", "'model'"]),
        (f"{HEAD}row:\n  - {{name: a}}\n", ["matrix.yaml:3", "'row'", "'rows'"]),
        (f"{HEAD}rows: []\n", ["matrix.yaml:3", "no rows"]),
        (f"{HEAD}rows: {{name: a}}\n", ["matrix.yaml:3: rows: Input should be a valid list"]),
        (HEAD, ["no rows"]),
        (f"{HEAD}cross:\n  agents: {{}}\n", ["matrix.yaml:3", "'agents'", "no values"]),
        (f"{HEAD}rows:\n  - {{agent: noop}}\n", ["matrix.yaml:4", "'name' is missing"]),
        (f"{HEAD}rows: [{{name: a}}, {{name: a}}]\n", ["matrix.yaml:3", "Several rows", "'a'"]),
        (f"{HEAD}repeats: none\nrows: [{{name: a}}]\n", ["matrix.yaml:3", "repeats"]),
        (f"{HEAD}repeats: 0\nrows: [{{name: a}}]\n", ["matrix.yaml:3", "repeats"]),
        ("name: Not Valid\nsuite: smoke\nrows: [{name: a}]\n", ["matrix.yaml:1", "lower-case"]),
        (f"{HEAD}rows: [\n", ["not valid YAML"]),
        ("", ["keys and values"]),
        (f"{HEAD}rows: [{{name: a, limits: {{step: 3}}}}]\n", ["'step'", "'steps'"]),
    ],
)
def test_errors_have_file_line_and_near_names(tmp_path: Path, text: str, said: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        read_experiment(write(tmp_path, text))
    message = str(caught.value)
    assert [part for part in said if part not in message] == []


def test_a_file_that_does_not_exist_is_an_error_of_it(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_experiment(tmp_path / "none.yaml")


def test_too_many_rows_are_refused(tmp_path: Path) -> None:
    values = "\n".join(f"    v{number}: {{}}" for number in range(30))
    with pytest.raises(SpecError, match="more than 500 rows"):
        read_experiment(write(tmp_path, f"{HEAD}cross:\n  a:\n{values}\n  b:\n{values}\n"))


def test_profile_and_paths(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    text = (
        "name: one\nsuite: own\nrows: [{name: a, agent: script, script: a.jsonl, profile: crab}]\n"
    )
    experiment, _ = read_experiment(write(tmp_path, text))
    ((_, settings),) = experiment.named_rows()
    request = request_of(experiment, settings, tmp_path)
    assert request.suite == str(tmp_path / "own")
    assert request.script == str(tmp_path / "a.jsonl")
    assert (request.history, request.limits.turns) == (3, 15)
    assert request.observation.marks is not None


def test_an_unknown_observation_names_the_nearest(tmp_path: Path) -> None:
    experiment, _ = read_experiment(write(tmp_path, f"{HEAD}rows: [{{name: a, observe: mraks}}]\n"))
    ((_, settings),) = experiment.named_rows()
    with pytest.raises(UnknownNameError, match="mraks") as caught:
        request_of(experiment, settings, tmp_path)
    assert "marks" in caught.value.resolution


def test_what_cannot_change_a_score_is_not_in_a_rows_digest(tmp_path: Path) -> None:
    def digest(text: str) -> str:
        experiment, _ = read_experiment(write(tmp_path, text))
        ((_, settings),) = experiment.named_rows()
        return digest_of(request_of(experiment, settings, tmp_path))

    first = digest(f"{HEAD}rows: [{{name: a, agent: noop}}]\n")
    assert first == digest(
        f"{HEAD}parallel: 4\nbudget: {{usd: 3}}\nrows: [{{name: b, agent: noop}}]\n"
    )
    assert first != digest(f"{HEAD}seed: 1\nrows: [{{name: a, agent: noop}}]\n")
    assert first != digest(f"{HEAD}rows: [{{name: a, agent: noop, trees: true}}]\n")
