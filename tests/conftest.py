"""Tiers, lanes and their times; see `tests.tiers`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.nightly.ledger import stale_lines
from tests.scheduling import GroupScheduling, write_groups
from tests.scratch import remove_stale
from tests.tiers import IS_NIGHTLY, Times, arrange, order

if TYPE_CHECKING:
    from collections.abc import Generator

    from _pytest.terminal import TerminalReporter

_TIMES = pytest.StashKey[Times]()
_LEFT = pytest.StashKey[int]()
GROUPS = "groups"


def pytest_configure(config: pytest.Config) -> None:
    """Start counting; let interrupts through, as in a terminal.

    A shell that is not interactive starts what runs in its background with interrupts ignored, and
    workers, and the children of tests, would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_TIMES] = Times()
    config.stash[_LEFT] = 0
    config.pluginmanager.register(_Reports(config), "mesocosm-lanes")
    if not hasattr(config, "workerinput"):
        remove_stale()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Leave nightly tests out of a landing; bind the others to workers before xdist looks."""
    left = arrange(items)
    config.stash[_LEFT] = len(left)
    worker: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if worker is not None:
        worker["nightly"] = len(left)
    if left:
        config.hook.pytest_deselected(items=left)
    yield
    order(items)
    sent: dict[str, Any] = getattr(config, "workerinput", {})
    if GROUPS in sent:
        write_groups(items, Path(sent[GROUPS]))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - xdist's
    """Tell a worker where to write the groups of tests."""
    node.workerinput[GROUPS] = str(_groups_path(node.config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> GroupScheduling:
    """Distribute tests by groups."""
    return GroupScheduling(config, _groups_path(config), log)


def _groups_path(config: pytest.Config) -> Path:
    factory: pytest.TempPathFactory = config._tmp_path_factory  # type: ignore[attr-defined]
    return factory.getbasetemp() / "groups.json"


class _Reports:
    """Collects times from this process or from workers."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the time of one phase."""
        self._config.stash[_TIMES].add(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ANN401 - xdist's
        """Take over what a worker counted."""
        output: dict[str, Any] = getattr(node, "workeroutput", {})
        self._config.stash[_LEFT] = max(self._config.stash[_LEFT], output.get("nightly", 0))

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Print times by lane, and what was left to the nightly."""
        terminalreporter.section("time by lane")
        for line in self._config.stash[_TIMES].lines():
            terminalreporter.write_line(line)
        is_whole = self._config.args_source is pytest.Config.ArgsSource.TESTPATHS
        if IS_NIGHTLY or not is_whole:
            return
        count = self._config.stash[_LEFT]
        terminalreporter.write_line(f"left to `make test-nightly`: {count} tests")
        for line in stale_lines():
            terminalreporter.write_line(line)
