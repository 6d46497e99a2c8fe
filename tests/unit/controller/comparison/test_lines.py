from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.comparison.comparison import compare_runs
from controller.comparison.lines import APPS, CAPABILITIES, COMPLEXITY, Line, break_down
from controller.comparison.page import to_html
from controller.comparison.text import to_csv, to_markdown
from controller.models.usage import Usage
from controller.planning import specify_run
from controller.specification.agent import CustomSpec, Member
from controller.wiring import open_suite
from tests.unit.controller.comparison.test_comparison import SPEC, other, record

if TYPE_CHECKING:
    from pathlib import Path

    from controller.comparison.comparison import RunComparison
    from controller.comparison.lines import Breakdown
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from tests.unit.controller.lab import Lab

HOSTILE = "<script>alert(1)</script>|x"


def compared(tmp_path: Path) -> tuple[RunComparison, Breakdown]:
    """Return a comparison in which a fails and then passes, b passes in both, the rest fails."""
    agent = SPEC.only_agent.model_copy(update={"model": HOSTILE})
    first, second = (
        record(tmp_path, SPEC, "b"),
        record(tmp_path, other(agents=(Member(agent=agent),)), "ab"),
    )
    comparison = compare_runs(first, second)
    return comparison, break_down(first, second, comparison, None)


def test_lines_pair_the_tasks_and_note_missing_data(tmp_path: Path) -> None:
    _, breakdown = compared(tmp_path)
    sections = dict(breakdown.sections())
    assert list(sections) == [
        "rates",
        "success rate by task",
        "trials by reason",
        "cost of a trial",
    ]
    rate = sections["rates"][0]
    assert (rate.tasks, rate.first, rate.second, rate.difference) == (4, 0.25, 0.5, 0.25)
    assert (rate.low, rate.p) == (0.0, 1.0)
    assert rate.high == pytest.approx(0.75)
    assert [line.difference for line in sections["success rate by task"]] == [1.0, 0, 0, 0]
    assert sections["trials by reason"] == [Line("trials by reason", "success", None, 4, 4)]
    costs = {line.name: (line.first, line.difference) for line in sections["cost of a trial"]}
    assert costs["wall seconds"] == (1.0, 0.0)
    assert "the suite tiny is not available" in breakdown.notes[0]


def test_unknown_usage_is_left_out_of_the_models_costs(tmp_path: Path) -> None:
    usages = {"a": Usage(100, 10), "b": Usage(7)}
    first, second = (record(tmp_path, spec, "ab", usages=usages) for spec in (SPEC, other(seed=5)))
    breakdown = break_down(first, second, compare_runs(first, second), None)
    costs = {line.name: line for line in dict(breakdown.sections())["cost of a trial"]}
    assert costs["tokens"].tasks == 3
    assert costs["tokens"].first == pytest.approx(110 / 3)
    assert costs["wall seconds"].tasks == 4


def test_csv_has_a_row_per_line_and_markdown_a_table_per_section(tmp_path: Path) -> None:
    comparison, breakdown = compared(tmp_path)
    rows = list(csv.DictReader(io.StringIO(to_csv(comparison, breakdown))))
    assert len(rows) == len(breakdown.lines)
    assert (rows[0]["name"], rows[0]["difference"], rows[0]["second_run"]) == (
        "SR",
        "0.25",
        "second",
    )
    text = to_markdown(comparison, breakdown)
    assert "| SR | 4 | 0.25 | 0.5 | +0.25 | +0 to +0.75 | 1 |" in text
    assert "<script" not in text
    widths = [line.replace("\\|", "").count("|") for line in text.splitlines() if line[:1] == "|"]
    assert set(widths) == {4, 8}


class Page(HTMLParser):
    """Counts elements, and records everything that a page would fetch or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.active: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in {"meta", "line", "circle", "rect"}:
            self.open.append(tag)
        self.active += [name for name, _ in attrs if name in {"src", "href"} or name[:2] == "on"]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_self_contained_with_charts_and_no_script(tmp_path: Path) -> None:
    page = Page(to_html(*compared(tmp_path)))
    assert page.open == []
    assert page.active == []
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    # Rates and tasks have two charts each, reasons one, and each of five costs one.
    assert page.tags.count("svg") == 10
    assert page.tags.count("circle") == 2 + 4


@pytest.mark.slow
def test_complexity_is_of_the_suite_that_was_run(lab: Lab) -> None:
    first, second = lab.begin(OracleDriver()), lab.begin(AgentDriver(NoopAgent))
    lab.use(OracleDriver())
    lab.go(first)
    lab.use(AgentDriver(NoopAgent))
    lab.go(second)
    comparison = compare_runs(first, second)
    breakdown = break_down(first, second, comparison, lab.suite)
    levels = dict(breakdown.sections())[COMPLEXITY]
    assert {line.name for line in levels} >= {"dependency: easy", "instruction: easy"}
    assert {line.difference for line in levels} == {-1.0}
    assert breakdown.notes == ()


@pytest.fixture
def lines(tmp_path: Path) -> Suite:
    """Return a suite with a task of five sequential subtasks and a task of one."""
    folder = tmp_path / "lines"
    folder.mkdir()
    (folder / "suite.yaml").write_text(
        "name: lines\nversion: '1'\ndescription: x\ntasks: [five.yaml, one.yaml]\n"
    )
    for name, app, count in (("five", "Files", 5), ("one", "Contacts", 1)):
        check = f"on: desktop, check: file_exists, app: {app}"
        nodes = [
            f"  - {{id: n{number}, {check}, with: {{path: ~/{number}}}"
            + (f", after: [n{number - 1}]}}\n" if number else "}\n")
            for number in range(count)
        ]
        head = f"id: {name}\ninstruction: Make files.\nroles: {{desktop: desktop}}\ngraph:\n"
        (folder / f"{name}.yaml").write_text(
            head + "".join(nodes) + "oracle:\n  - {do: complete}\n"
        )
    return open_suite(str(folder))


def judged(folder: Path, suite: Suite, passed: str) -> RunFolder:
    """Record a run of a suite in which the named tasks passed."""
    return record(folder, specify_run(suite, CustomSpec(name="x")), passed)


def test_results_are_broken_down_by_application_and_capability(
    tmp_path: Path, lines: Suite
) -> None:
    first = judged(tmp_path / "a", lines, "five one")
    second = judged(tmp_path / "b", lines, "one")
    sections = dict(break_down(first, second, compare_runs(first, second), lines).sections())
    apps = {line.name: (line.tasks, line.first, line.second) for line in sections[APPS]}
    assert apps == {"Contacts": (1, 1.0, 1.0), "Files": (1, 1.0, 0.0)}
    capabilities = {line.name: (line.tasks, line.difference) for line in sections[CAPABILITIES]}
    # Dependency, instruction and hierarchy are hard, knowledge and branch easy; the other task needs none.
    assert set(capabilities.values()) == {(1, -1.0)}
    assert set(capabilities) == {
        "Dependency Identification",
        "Domain-Specific Knowledge",
        "Long-Range Planning",
        "Long-Sequence Reasoning",
        "Subtask Identification",
    }
