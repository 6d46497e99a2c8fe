"""Run a whole suite from your own program, recorded and reported like any other run."""

from __future__ import annotations

import sys

from controller.executors.local import LocalExecutor
from controller.planning import specify_run
from controller.scheduling.execution import execute_run
from controller.spec.agent import CustomSpec
from controller.store.runs import Store
from controller.wiring import open_trials
from mesocosm import (
    Action,
    Agent,
    AgentContext,
    AgentDriver,
    Observation,
    Turn,
    get_settings,
    open_fleet,
    open_suite,
    read_report,
)


class Patient(Agent):
    """Waits once, then gives up."""

    def __init__(self, context: AgentContext) -> None:
        self.seed = context.seed

    def act(self, observation: Observation) -> Turn:
        """Choose an action."""
        if observation.step == 0:
            return Turn((Action("wait", args={"seconds": 0.1}),))
        return Turn((Action("complete"),))


def main(suite_name: str, fleet: str = "real") -> None:
    """Run every task of a suite, two at a time, and print the report."""
    settings = get_settings()
    suite = open_suite(suite_name)
    spec = specify_run(suite, CustomSpec(name="patient"), seed=7)
    folder = Store(settings.runs_dir).create(spec)
    trials = open_trials(spec, suite, AgentDriver(Patient), open_fleet(fleet, settings), settings)
    execute_run(folder, LocalExecutor(trials, parallel=2))
    print(folder.spec.run)
    print(read_report(folder).summary())


if __name__ == "__main__":
    main(*sys.argv[1:])
