"""Lanes, tiers and the ledger of the nightly."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from foundation.files import locked
from foundation.process import run
from foundation.settings import get_settings
from tests.nightly import __main__ as nightly
from tests.nightly import ledger
from tests.nightly.__main__ import command_of, main, summary_of
from tests.nightly.jobs import DEFAULT, DISTRIBUTIONS, JOBS, Job, select
from tests.nightly.ledger import REPOSITORY, Row, digest_sources, read_rows, slots, write_row
from tests.tiers import SPREAD, Lane, Times, arrange, find_uncovered, is_fast, lane_of


@pytest.mark.parametrize(
    ("marks", "lane"),
    [
        (("vm", "docker", "phone"), Lane.VM),
        (("docker",), Lane.CONTAINER),
        (("phone", "adb"), Lane.CONTAINER),
        (("prometheus",), Lane.SERVICE),
        (("browser",), Lane.SERVICE),
        (("adb", "slow"), Lane.UNIT),
        ((), Lane.UNIT),
    ],
)
def test_lane_follows_from_the_machines_that_a_test_needs(
    marks: tuple[str, ...], lane: Lane
) -> None:
    assert lane_of(marks) is lane


@pytest.mark.parametrize(
    ("marks", "fast"),
    [
        ((), True),
        (("parametrize", "usefixtures"), True),
        (("slow",), False),
        (("adb",), False),
        (("libvirt",), False),
        (("docker",), False),
        (("browser",), False),
        (("xdist_group",), False),
    ],
)
def test_fast_tests_need_only_python(marks: tuple[str, ...], *, fast: bool) -> None:
    assert is_fast(marks) is fast


def test_folders_without_a_fast_test_are_found() -> None:
    (a, b, c) = (Path("tests/a/test_1.py"), Path("tests/a/test_2.py"), Path("tests/b/test_3.py"))
    assert find_uncovered([a, b, c], [b]) == [Path("tests/b")]
    assert find_uncovered([a, b, c], [a, c]) == []


@pytest.mark.parametrize(("spread", "groups"), [("", ["vm"] * 16), ("1", None)])
def test_vm_tests_share_a_worker_unless_their_job_distributes_them(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, spread: str, groups: list[str]
) -> None:
    monkeypatch.setenv(SPREAD, spread)
    items: list[pytest.Item] = [
        pytest.Function.from_parent(request.node.parent, name=f"test_{index}", callobj=lambda: None)
        for index in range(17)
    ]
    for item in items[:16]:
        item.add_marker("vm")
    arrange(items)
    marked_groups = [
        mark.args[0] for item in items if (mark := item.get_closest_marker("xdist_group"))
    ]
    assert marked_groups[:16] == (groups or [f"vm {index // 2}" for index in range(16)])
    assert not marked_groups[16].startswith("vm")


def phase(worker: str, lane: Lane, minutes: float) -> pytest.TestReport:
    report = pytest.TestReport(
        "test_it.py::test_it",
        ("test_it.py", 1, "test_it"),
        {},
        "passed",
        None,
        "call",
        duration=minutes * 60,
        user_properties=[("lane", lane.value)],
    )
    report.worker_id = worker  # type: ignore[attr-defined]  # as pytest-xdist does
    return report


def test_times_are_reported_by_lane_and_by_worker() -> None:
    times = Times()
    for worker, lane, minutes in (
        ("gw0", Lane.VM, 31.0),
        ("gw0", Lane.UNIT, 1.5),
        ("gw1", Lane.UNIT, 2.0),
    ):
        times.add(phase(worker, lane, minutes))
    assert [line.split() for line in times.lines()[1:]] == [
        ["vm", "1", "31.0", "30.0", "over", "budget"],
        ["container", "0", "0.0", "16.0"],
        ["service", "0", "0.0", "5.0"],
        ["unit", "2", "3.5", "39.0"],
        ["all", "3", "34.5", "90.0"],
        ["worker", "gw0:", "32.5", "(vm", "31.0,", "unit", "1.5)"],
        ["worker", "gw1:", "2.0", "(unit", "2.0)"],
    ]


def row(job: str, *, passed: bool = True, sources: str = "s", distribution: str = "") -> Row:
    return Row(
        job=job,
        distribution=distribution,
        sources=sources,
        commit="c" * 40,
        date="2026-11-22 10:00",
        passed=passed,
        summary="1 passed",
        seconds=1.0,
    )


def test_row_replaces_that_of_its_job_and_distribution(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    write_row(row("b", passed=False), path)
    write_row(row("a", distribution="debian-12"), path)
    write_row(row("b"), path)
    assert [(stored.job, stored.passed) for stored in read_rows(path)] == [("a", True), ("b", True)]


@pytest.mark.slow
def test_missing_failed_or_outdated_rows_are_stale(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    job = next(job for job in JOBS if not job.distributions)
    name = f"nightly {job.name}:"

    def stated() -> list[str]:
        return [line for line in ledger.stale_lines(path) if line.startswith(name)]

    assert stated() == [f"{name} never run"]
    write_row(row(job.name, sources=digest_sources(job.sources)), path)
    assert stated() == []
    write_row(row(job.name, sources="other"), path)
    assert "stale" in stated()[0]
    write_row(row(job.name, passed=False, sources=digest_sources(job.sources)), path)
    assert "failed" in stated()[0]


def test_sources_are_digested_by_name_and_content_without_documentation(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("1")
    (tmp_path / "other.py").write_text("1")
    run(["git", "init", "-q"], cwd=tmp_path).require()
    before = digest_sources(("a",), tmp_path)
    (tmp_path / "other.py").write_text("2")
    (tmp_path / "a" / "note.md").write_text("2")
    (tmp_path / "a" / "x.py").write_text('"""What it is."""\n\n1  # why\n')
    assert digest_sources(("a",), tmp_path) == before
    (tmp_path / "a" / "x.py").write_text("1 +")
    assert digest_sources(("a",), tmp_path) != before
    (tmp_path / "a" / "x.py").write_text("2")
    assert digest_sources(("a",), tmp_path) != before


def test_sources_and_tests_of_every_job_exist() -> None:
    for job in JOBS:
        args = (word.removeprefix("--ignore=") for word in (*job.pytest, *job.elsewhere))
        paths = [*job.sources, *(word for word in args if word.startswith("tests/"))]
        assert [path for path in paths if not (REPOSITORY / path).exists()] == []
        assert bool(job.pytest) != bool(job.command)


def test_every_distribution_has_its_own_row() -> None:
    assert [name for job, name in slots(select(("smoke",)))] == list(DISTRIBUTIONS)
    with pytest.raises(KeyError):
        select(("smok",))


def test_appliance_is_brought_up_if_a_job_needs_it() -> None:
    (smoke, phone) = select(("smoke", "phone"))
    assert command_of(smoke)[:2] == ["sh", "tests/with_appliance.sh"]
    assert command_of(phone)[0].endswith("pytest")


def test_job_of_several_workers_is_distributed() -> None:
    (attacks, contract) = select(("attacks", "machine-contract"))
    assert "-n 2 --dist loadscope" in " ".join(command_of(attacks))
    assert "-n" not in command_of(contract)


def test_other_distributions_run_only_tests_that_depend_on_them() -> None:
    (attacks,) = select(("attacks",))
    whole = command_of(attacks, DEFAULT)
    for other in set(DISTRIBUTIONS) - {DEFAULT}:
        assert command_of(attacks, other) == [*whole, "-m", "vm or docker"]
    assert command_of(attacks) == whole


def test_job_is_summarised_by_its_row_or_the_last_line_of_pytest() -> None:
    table = (
        "│ rewind         │ 500 │ 0 │ 0.384 │ 0.431 │ 0.471 │ loadvm in the running QEMU │\n"
        "│ state taken    │ 500 │ 0 │ 0.128 │ 0.132 │ 0.140 │ files in 3 ways │\n"
        "└────────────────┴─────┘\n✓ machines  2.7 s  desktop-0e76cc\n"
    )
    assert summary_of(table, "rewind") == (
        "rewind, 500, 0, 0.384, 0.431, 0.471, loadvm in the running QEMU"
    )
    assert summary_of(table, "") == ""
    closing = "== 1 failed, 12 passed in 13.20s ==\n✓ services  1.8 s  five\n"
    assert summary_of(closing, "") == "1 failed, 12 passed in 13.20s"


FLAKY = """
import pathlib
import pytest
def test_sound():
    pass
@pytest.mark.parametrize("way", ["a file's", "another"])
def test_flaky(way):
    mark = pathlib.Path(__file__).with_name(way)
    ran = mark.exists()
    mark.touch()
    assert ran or way == "another"
"""


@pytest.mark.slow
@pytest.mark.parametrize("fails_again", [False, True])
def test_failed_tests_are_repeated_alone_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails_again: bool
) -> None:
    monkeypatch.setattr(nightly, "LOGS", tmp_path / "logs")
    (tmp_path / "test_it.py").write_text(FLAKY)
    tests = (str(tmp_path / "test_it.py"),)
    job = Job("it", "proves it", ("tests/unit/test_tiers.py",), tests, needs_appliance=False)
    first = nightly.run_job(job, "debian-12")
    assert (first.passed, first.summary.split(" in ")[0]) == (False, "1 failed, 2 passed")
    failed = nightly.repeatable(first, digest_sources(job.sources))
    assert [name.rpartition("::")[2] for name in failed] == ["test_flaky[a file's]"]
    if fails_again:
        (tmp_path / "a file's").unlink()
    second = nightly.repeat(job, first, failed)
    if fails_again:
        assert second == first
    else:
        assert second.passed
        assert second.repeated == failed
        assert "1 failed, 2 passed" in second.summary
        assert "then 1 passed" in second.summary
    # The log that names the failed tests still exists.
    assert nightly.repeatable(first, digest_sources(job.sources)) == failed


def test_passed_or_outdated_rows_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nightly, "LOGS", tmp_path)
    (tmp_path / "it.log").write_text(
        "= short test summary info =\nFAILED tests/a.py::test_b - x\n== 1 failed in 2.00s ==\n"
    )
    assert nightly.repeatable(row("it", passed=False), "s") == ["tests/a.py::test_b"]
    assert nightly.repeatable(row("it"), "s") == []
    assert nightly.repeatable(row("it", passed=False), "t") == []
    assert nightly.repeatable(None, "s") == []
    assert nightly.repeatable(row("never run", passed=False), "s") == []


@pytest.mark.parametrize(
    "log",
    [
        "FAILED tests/a.py::test_b - x\n",  # it was ended before its summary
        "= short test summary info =\nFAILED a.py::b - x\nERROR c.py - y\n== 1 failed, 1 error in 2.00s ==\n",
    ],
)
def test_incomplete_job_is_not_repeated_in_part(log: str) -> None:
    assert nightly.failed_tests(log) == []


def test_second_nightly_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    with locked(get_settings().state_dir / "nightly.lock", what="The nightly"):
        assert main(["run", "cloud-init"]) == 2
    assert "The nightly is in use by another process." in capsys.readouterr().err


@pytest.mark.slow
def test_tests_of_one_group_run_on_one_worker(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "tests" / "conftest.py", tmp_path / "conftest.py")
    (tmp_path / "test_it.py").write_text(
        "import os, pathlib, pytest\n"
        "@pytest.mark.parametrize('number', [\n"
        "    pytest.param(n, marks=[pytest.mark.vm if n % 2 else pytest.mark.docker])\n"
        "    for n in range(12)])\n"
        "def test_it(number):\n"
        "    group = 'vm' if number % 2 else 'docker'\n"
        "    worker = os.environ['PYTEST_XDIST_WORKER']\n"
        "    pathlib.Path(f'{group}-{worker}').touch()\n"
    )
    argv = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadscope"]
    argv += ["--no-loadscope-reorder", "-p", "no:cacheprovider", "-o", "addopts=", "test_it.py"]
    env = {"PYTHONPATH": str(REPOSITORY)}
    ended = run(argv, cwd=tmp_path, env=env, timeout_s=120)
    assert b"12 passed" in ended.stdout, ended.stdout
    assert len(list(tmp_path.glob("vm-*"))) == 1
    assert len(list(tmp_path.glob("docker-*"))) == 1
