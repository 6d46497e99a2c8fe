"""Runs to look at: an agent that thinks aloud, errs and learns, and a reference solution."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from controller.actions.space import Action
from controller.agents.driver import AgentDriver
from controller.agents.oracle import OracleDriver
from controller.executors.local import LocalExecutor, LocalTrials
from controller.experiments.record import ExperimentRecord, ExperimentStore, RowRecord
from controller.models.usage import Usage
from controller.planning import specify_run
from controller.protocol import Turn
from controller.scheduling.execution import execute_run
from controller.service.schedules.definition import parse_schedule
from controller.specification.agent import CustomSpec, OracleSpec
from controller.store.runs import Store
from controller.wiring import make_context, open_suite
from foundation.clock import FakeClock
from foundation.files import write_atomic
from provisioning.fake import FakeFleet
from tests.unit.controller.lab import ignore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.episode.trial import Driver
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext
    from controller.service.schedules.register import Register
    from controller.specification.agent import AgentSpec

TINY = Path(__file__).resolve().parents[1] / "suites/tiny"
SCHEDULE = "nightly"
EXPERIMENT = "two-agents"
FAILED_BUILD = "desktop-paint-96970e176ef3-20261128T184847Z"
_BUILDS = {
    FAILED_BUILD: """\
== step 1/3
packages: mtpaint
Reading package lists...
Setting up mtpaint (3.50.09-1) ...
== step 2/3
run: update-desktop-databse
sh: 1: update-desktop-databse: not found
FAILED: The step 'run: update-desktop-databse' failed with exit code 127.
sh: 1: update-desktop-databse: not found
Its tree is kept. To look into it: docker run -it --rm mesocosm/failed:paint bash
""",
    "desktop-paint-96970e176ef3-20261128T190103Z": """\
== step 2/3
run: update-desktop-database
== disk
converting the disk to qcow2
== done
desktop:paint built in 74.2 s
""",
    "renderer-ubuntu-22.04-12498039a5d5-20261128T190500Z": "== layers\n",
}
"""Logs of builds by name."""
SCHEME = "gsettings set org.gnome.desktop.interface color-scheme"
TURNS = (
    Turn((Action("tap", "phone", {"x": 90, "y": 42}),), Usage(1840, 61, 0.0031), "The to-do is on the phone. I tap Tasks."),
    Turn((Action("tap", "phone", {"x": 90, "y": 92}),), Usage(2210, 48, 0.0035), "I open the task to read it."),
    Turn((Action("click", "desktop", {"x": 4000, "y": 12}),), Usage(2390, 52, 0.0037), "Dark style: the menu is at the top right."),
    Turn((Action("open_app", "desktop", {"name": "Terminal"}),), Usage(2604, 40, 0.0038), "That was off the screen. A terminal does it, too."),
    Turn((Action("type_text", "desktop", {"text": f"{SCHEME} prefer-light\ntouch made\n"}),), Usage(2650, 55, 0.0039), "I set the style."),
    Turn((Action("type_text", "desktop", {"text": f"{SCHEME} prefer-dark\n"}),), Usage(2701, 58, 0.0041), "It is still light: I wrote the wrong word."),
)  # fmt: skip


class Thinker:
    """Plays `TURNS`, whatever it sees."""

    def __init__(self, _context: AgentContext) -> None:
        self._turns = iter(TURNS)

    def act(self, _observation: Observation) -> Turn:
        """Return the next turn; at the end, that all is done."""
        return next(self._turns, Turn((Action("complete"),), note="Done."))


def record_demo(runs_dir: Path) -> tuple[str, str]:
    """Record a run of the agent that thinks aloud, and one by the oracle; return their ids."""
    thinker = _record(runs_dir, CustomSpec(name="thinker"), AgentDriver(Thinker))
    oracle = _record(runs_dir, OracleSpec(), OracleDriver())
    _add_experiment(runs_dir, {"thinker": thinker, "solution": oracle, "not yet played": ""})
    for name, text in _BUILDS.items():
        write_atomic(runs_dir.parent / f"images/logs/{name}.log", text)
    return thinker, oracle


def add_schedule(register: Register) -> None:
    """Add the schedule `SCHEDULE`, which does not fire by itself for hours."""
    request = {"suite": "smoke", "agent": "noop", "fleet": "fake"}
    trigger = {"kind": "cron", "line": "0 2 * * *"}
    register.add(parse_schedule({"name": SCHEDULE, "trigger": trigger, "request": request}))


def _add_experiment(runs_dir: Path, runs: Mapping[str, str]) -> None:
    """Add the experiment `EXPERIMENT` with a row for each run."""
    spec = Store(runs_dir).open(next(iter(runs.values()))).spec
    ExperimentStore(runs_dir.parent / "experiments").save(
        ExperimentRecord(
            id=EXPERIMENT,
            name=EXPERIMENT,
            file="matrix.yaml",
            started_s=spec.started_s,
            suite=spec.suite,
            tasks=spec.tasks,
            platforms={"dark-style": "cross", "write-file": "desktop"},
            repeats=1,
            fleet="fake",
            human=True,
            rows=tuple(RowRecord(name=name, digest="", run=run) for name, run in runs.items()),
        )
    )


def _record(runs_dir: Path, agent: AgentSpec, driver: Driver) -> str:
    suite = open_suite(str(TINY))
    spec = specify_run(suite, agent, tasks=("dark-style", "write-file"))
    clock = FakeClock()
    folder = Store(runs_dir).create(spec)
    context = make_context(spec, suite, FakeFleet(clock), clock=clock, take=ignore)
    execute_run(folder, LocalExecutor(LocalTrials(suite, context, driver)))
    return folder.spec.run
