"""Run a whole suite from your own program, recorded and reported like any other run."""

from __future__ import annotations

import sys

from mesocosm import Action, Agent, AgentContext, Observation, Turn, run_suite


class Patient(Agent):
    """Waits once, then gives up."""

    def __init__(self, context: AgentContext) -> None:
        self.seed = context.seed

    def act(self, observation: Observation) -> Turn:
        """Choose an action."""
        if observation.step == 0:
            return Turn((Action("wait", args={"seconds": 0.1}),))
        return Turn((Action("complete"),))


def main(suite: str, fleet: str = "real") -> None:
    """Run every task of a suite, two at a time, and print the report."""
    report = run_suite(suite, Patient, name="patient", seed=7, parallel=2, fleet=fleet)
    print(report.spec.run)
    print(report.summary())


if __name__ == "__main__":
    main(*sys.argv[1:])
