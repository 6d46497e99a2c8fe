"""Tests of files of a suite that evaluators compare with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.actions.vocabulary import vocabulary
from controller.planning import specify_task
from evaluators.decorators import SuiteFile, evaluator
from evaluators.graph.outcome import Call
from evaluators.loading.suite import load_suite
from evaluators.runners import HostRunner
from evaluators.schema import describe
from evaluators.source_digest import SourceDigester
from foundation.errors import SpecError

if TYPE_CHECKING:
    from evaluators.loading.suite import Suite

SUITE = """
name: letters
version: "1"
description: Letters.
tasks: [task.yaml]
"""
TASK = """
id: letter
instruction: Write the letter.
roles: {desktop: desktop}
graph:
- id: same
  on: desktop
  check: document_same_as
  with: {path: ~/a.odt, reference: REFERENCE, aspects: [text]}
oracle: [{on: session, do: complete}]
"""


@evaluator(on="documents")
def has_bytes(view: bytes, reference: SuiteFile) -> bool:
    """Return whether the subject equals a file of the suite.

    Args:
        view: bytes.
        reference: the file.
    """
    return Path(reference).read_bytes() == view


def suite_in(folder: Path, reference: str = "files/a.odt") -> Suite:
    (folder / "files").mkdir(exist_ok=True)
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "task.yaml").write_text(TASK.replace("REFERENCE", reference))
    return load_suite(folder, vocabulary())


@pytest.mark.slow
def test_a_reference_belongs_to_the_digests_of_suite_and_task(tmp_path: Path) -> None:
    digests = set()
    for content in (b"one", b"two"):
        (tmp_path / "files").mkdir(exist_ok=True)
        (tmp_path / "files/a.odt").write_bytes(content)
        suite = suite_in(tmp_path)
        spec = specify_task(suite.task("letter"), suite.vocabulary, SourceDigester())
        digests.add((suite.digest, spec.graph))
    assert len({suite for suite, _ in digests}) == len({graph for _, graph in digests}) == 2


@pytest.mark.parametrize("reference", ["files/none.odt", "../a.odt"])
def test_a_reference_must_be_in_the_suite(tmp_path: Path, reference: str) -> None:
    with pytest.raises(SpecError, match="suite's folder"):
        suite_in(tmp_path, reference)


def test_the_evaluator_gets_the_path_on_the_host(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"content")
    tools = {"has_bytes": describe(has_bytes)}
    calls = [
        Call("a", "has_bytes", {"reference": "a.bin"}),
        Call("b", "has_bytes", {"reference": "b"}),
    ]
    runner = HostRunner(tools, lambda _: b"content", folder=tmp_path)
    outcomes = runner.evaluate(calls, timeout_s=1)
    assert [outcome.met for outcome in outcomes] == [True, None]
    assert "does not contain b" in outcomes[1].reason
    assert HostRunner(tools, lambda _: b"content").evaluate(calls[:1], timeout_s=1)[0].met is None


def test_evaluators_of_desktops_take_no_files_of_the_suite() -> None:
    @evaluator(on="desktop")
    def wants(guest: object, file: SuiteFile) -> bool:
        """Return whether it wants.

        Args:
            guest: the guest.
            file: the file.
        """
        return False

    with pytest.raises(SpecError, match="no files of the suite"):
        describe(wants)
