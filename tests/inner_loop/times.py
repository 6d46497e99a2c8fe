"""Remember how long fast tests took here, and say how long a run will take."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from tests.tiers import FAST

if TYPE_CHECKING:
    import pytest

_SECONDS, _COLLECTING = "mesocosm/seconds", "mesocosm/collecting"


class FastTimes:
    """Plugin of the controlling process.

    Args:
        config: of the session.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._start_s = SYSTEM_CLOCK.monotonic_s()
        self._collected_s = 0.0
        self._seconds: defaultdict[str, float] = defaultdict(float)

    @property
    def _cache(self) -> pytest.Cache | None:
        return getattr(self._config, "cache", None)

    def pytest_sessionstart(self) -> None:
        """Print how long the run will take, by earlier ones."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if self._config.option.markexpr == FAST and self._cache and reporter:
            known = self._cache.get(_SECONDS, {})
            collecting = self._cache.get(_COLLECTING, 0.0)
            workers = getattr(self._config.option, "numprocesses", None) or 1
            reporter.write_line(forecast(self._config.args, known, collecting, workers))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the duration of one phase."""
        if not self._collected_s:
            self._collected_s = SYSTEM_CLOCK.monotonic_s() - self._start_s - report.duration
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self) -> None:
        """Remember the times of a run of fast tests."""
        if self._config.option.markexpr != FAST or not self._cache or not self._seconds:
            return
        known = {**self._cache.get(_SECONDS, {}), **self._seconds}
        self._cache.set(_SECONDS, {name: round(value, 3) for name, value in known.items()})
        # Only a large run says what importing a file costs, apart from starting workers.
        each = self._collected_s / len(self._seconds)
        before = self._cache.get(_COLLECTING, 0.0)
        self._cache.set(_COLLECTING, min(each, before) if before else each)


def forecast(args: list[str], seconds: dict[str, float], collecting: float, workers: int) -> str:
    """Return how long a run will take, as a line for people.

    Args:
        args: files and folders to run.
        seconds: of each file that was run before.
        collecting: seconds to collect one file.
        workers: number of parallel workers.
    """
    files = [name for arg in args for name in seconds if name == arg or name.startswith(f"{arg}/")]
    new = [arg for arg in args if arg.endswith(".py") and arg not in seconds]
    if not files:
        return "how long this takes is not known: these tests have not been run here"

    def total(names: list[str], count: int) -> float:
        return sum(seconds[name] for name in names) / workers + collecting * count

    here = total(files, len(files) + len(new))
    text = f"this takes about {here:.0f} s, all fast tests {total(list(seconds), len(seconds)):.0f} s, by earlier runs here"
    return f"{text}; {len(new)} files were not run before" if new else text
