"""Trials that never ended, read from their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.store.report import read_report
from tests.unit.controller.lab import Killed, Lab, Victim

if TYPE_CHECKING:
    from pathlib import Path

SUITE = 'name: words\nversion: "1"\ndescription: One task.\ntasks: [word.yaml]\n'
TASK = """\
id: word
instruction: Write ${word} into note.txt.
parameters:
  word: {type: choice, from: [alpha]}
roles: {desktop: desktop}
graph:
  - {id: written, on: desktop, check: file_text_equals, with: {path: ~/note.txt, text: "${word}"}, hint: "Write ${word}."}
oracle:
  - {on: desktop, do: click, at: {role: push button, name: Files}}
  - {on: desktop, do: click, at: {role: push button, name: Terminal}}
  - {on: desktop, do: type_text, with: {text: "echo ${word} > note.txt\\n"}}
"""


def test_unmet_nodes_are_shown_with_the_values_of_the_trial_seed(tmp_path: Path) -> None:
    folder = tmp_path / "words"
    folder.mkdir()
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "word.yaml").write_text(TASK)
    lab = Lab(folder, tmp_path / "runs")
    run = lab.begin(Victim(), "word")
    (trial,) = read_report(run, lab.suite).unfinished
    assert (trial.steps, trial.nodes_met, trial.unmet) == (0, None, ()), "it was never begun"
    with pytest.raises(Killed):
        lab.go(run)
    (trial,) = read_report(run, lab.suite).unfinished
    assert (trial.steps, trial.nodes_met) == (2, 0)
    assert [row.why for row in trial.unmet] == ["Not yet satisfied: Write alpha."]
