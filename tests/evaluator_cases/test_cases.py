"""Run the test cases of every built-in evaluator, one test per evaluator."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evaluators.catalogue import builtin_evaluators, distinct_tools
from evaluators.testing.index import INDEX, render_index
from evaluators.testing.machine import MachineFixture
from evaluators.testing.recorded_views import RecordedViews
from evaluators.testing.runner import failures
from tests.evaluator_cases.registry import VIEWS, all_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.testing.case import CaseTable

MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 1 << 30


@pytest.fixture(scope="module", autouse=True)
def _scratch_in_memory() -> Iterator[None]:
    """Prepare cases in memory: a file system with `discard` takes 2 ms to remove a folder."""
    with pytest.MonkeyPatch.context() as patch:
        if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH_BYTES:
            patch.setattr(tempfile, "tempdir", str(MEMORY))
        patch.setattr(MachineFixture, "views", RecordedViews(VIEWS))
        yield


@pytest.mark.parametrize(
    "table", all_tables(), ids=[f"{table.mark.on}.{table.mark.name}" for table in all_tables()]
)
def test_an_evaluator_passes_its_cases(table: CaseTable) -> None:
    wrong = failures(table)
    assert not wrong, "\n".join(["", *wrong])


def test_every_evaluator_has_one_table_of_cases() -> None:
    tabled = sorted((table.mark.on, table.mark.name) for table in all_tables())
    assert tabled == sorted((tool.on, tool.name) for tool in distinct_tools(builtin_evaluators()))


def test_the_index_of_cases_is_up_to_date() -> None:
    assert INDEX.read_text(encoding="utf-8") == render_index(all_tables()), "run `make cases`"
