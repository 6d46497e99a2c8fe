"""Pytest hooks for tiers, lanes and their times; see `tests.tiers`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.inner_loop.choice import TESTS
from tests.inner_loop.times import FastTimes
from tests.nightly.ledger import stale_lines
from tests.scheduling import GroupScheduling, write_groups
from tests.scratch import remove_stale
from tests.tiers import FAST, IS_NIGHTLY, Times, arrange, find_uncovered, order

if TYPE_CHECKING:
    from collections.abc import Generator

    from _pytest.terminal import TerminalReporter

_TIMES = pytest.StashKey[Times]()
_LEFT = pytest.StashKey[int]()
_UNCOVERED = pytest.StashKey[list[str]]()
GROUPS = "groups"


def pytest_configure(config: pytest.Config) -> None:
    """Initialize counters, and enable interrupts as in a terminal.

    Non-interactive shells start background processes with interrupts ignored, and workers and the
    child processes of tests would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_TIMES] = Times()
    config.stash[_LEFT] = 0
    config.stash[_UNCOVERED] = []
    config.pluginmanager.register(_Reports(config), "mesocosm-lanes")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FastTimes(config), "mesocosm-fast-times")
        remove_stale()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Deselect nightly tests in `make test`; assign the others to groups before xdist reads them."""
    left = arrange(items)
    config.stash[_LEFT] = len(left)
    if left:
        config.hook.pytest_deselected(items=left)
    collected = [item.path for item in items]
    yield
    if config.option.markexpr == FAST and TESTS in config.args:
        folders = find_uncovered(collected, [item.path for item in items])
        config.stash[_UNCOVERED] = [str(folder.relative_to(config.rootpath)) for folder in folders]
    worker: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if worker is not None:
        worker.update(nightly=len(left), uncovered=config.stash[_UNCOVERED])
    order(items)
    sent: dict[str, Any] = getattr(config, "workerinput", {})
    if GROUPS in sent:
        write_groups(items, Path(sent[GROUPS]))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - xdist's
    """Pass a worker the path of the groups file."""
    node.workerinput[GROUPS] = str(_groups_path(node.config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupScheduling:
    """Distribute tests by groups."""
    return GroupScheduling(config, _groups_path(config), log)


def _groups_path(config: pytest.Config) -> Path:
    factory: pytest.TempPathFactory = config._tmp_path_factory  # type: ignore[attr-defined]
    return factory.getbasetemp() / "groups.json"


class _Reports:
    """Collector of what tests took and left out, in this process or in workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the duration of one phase."""
        self._config.stash[_TIMES].add(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ANN401 - xdist's
        """Add the counts of a worker."""
        output: dict[str, Any] = getattr(node, "workeroutput", {})
        self._config.stash[_LEFT] = max(self._config.stash[_LEFT], output.get("nightly", 0))
        self._config.stash[_UNCOVERED] = output.get("uncovered", self._config.stash[_UNCOVERED])

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run of fast tests that omits a folder."""
        if self._config.stash[_UNCOVERED] and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Print times by lane, and the number of deselected nightly tests."""
        terminalreporter.section("time by lane")
        for line in self._config.stash[_TIMES].lines():
            terminalreporter.write_line(line)
        for folder in self._config.stash[_UNCOVERED]:
            terminalreporter.write_line(f"no fast test in {folder}")
        is_whole = self._config.args_source is pytest.Config.ArgsSource.TESTPATHS
        if IS_NIGHTLY or not is_whole:
            return
        count = self._config.stash[_LEFT]
        terminalreporter.write_line(f"left to `make test-nightly`: {count} tests")
        for line in stale_lines():
            terminalreporter.write_line(line)
