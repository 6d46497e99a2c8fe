"""The spreadsheet task of the example suite ``first``, judged by the real renderer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.wiring import open_suite
from evaluators.documents.sheet_structure import panes_frozen
from evaluators.documents.spreadsheets import cells_equal
from evaluators.model.oracle import Act
from evaluators.schema import describe
from evaluators.testing.machine import MachineFixture
from foundation.process import run
from tests.standins.renderer import real_views

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.rendering.client import DocumentViews

FIRST = Path(__file__).resolve().parents[2] / "examples/suites/first"
pytestmark = [pytest.mark.docker]


@pytest.fixture
def views(tmp_path: Path) -> Iterator[DocumentViews]:
    opened = real_views(tmp_path / "views")
    yield opened
    opened.close()


def test_script_of_the_spreadsheet_sorts_and_freezes(
    tmp_path: Path, views: DocumentViews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MachineFixture, "views", views)
    task = open_suite(str(FIRST)).task("sheet")
    script = next(
        str(step.args["text"])
        for step in task.solutions["script"]
        if isinstance(step, Act) and "text" in step.args
    )
    fixture = MachineFixture(tmp_path / "machine")
    fixture.write("~/prices.ods", (FIRST / "data/prices.ods").read_bytes())
    home = next((tmp_path / "machine").rglob("prices.ods")).parent
    before, frozen = task.graph
    sorted_as = describe(cells_equal).check(before.args)
    assert not cells_equal(fixture.subject(), **sorted_as)
    run(["/bin/bash", "-c", script], cwd=home, env={"HOME": str(home)}).require()
    assert cells_equal(fixture.subject(), **sorted_as)
    assert panes_frozen(fixture.subject(), **describe(panes_frozen).check(frozen.args))
