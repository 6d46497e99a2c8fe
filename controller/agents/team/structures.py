"""The turns of each structure of a team, until the trial is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.agents.team import prompts
from controller.agents.team.crew import describe_actions
from controller.agents.team.tools import team_tools
from controller.specification.team import MAIN, ROOT, TOOL
from evaluators.strict import SESSION

if TYPE_CHECKING:
    from collections.abc import Collection

    from controller.agents.team.crew import Crew, Said
    from controller.episode.step import Step
    from controller.observation.observer import Observation


def by_function(crew: Crew, observation: Observation) -> None:
    """Let ``main`` see and tell ``tool``, which acts without seeing."""
    machines = crew.machines
    crew.join(MAIN, sees=machines, acts=(), more={SESSION: team_tools("tell")})
    crew.join(TOOL, sees=(), acts=(*machines, SESSION))
    seen = observation
    while True:
        step, told = _lead(crew, seen, {TOOL})
        for name in told:
            if step.done:
                return
            step, seen = _delegate(crew, name, seen)
        if step.done:
            return


def by_environment(crew: Crew, observation: Observation) -> None:
    """Let ``main`` see all and tell one member a machine, and ``root`` for the session."""
    machines = crew.machines
    skip = {SESSION: team_tools("skip")}
    crew.join(MAIN, sees=machines, acts=(), more={SESSION: team_tools("tell")})
    for role in machines:
        crew.join(role, sees=(role,), acts=(role,), more=skip)
    crew.join(ROOT, sees=(), acts=(SESSION,), more=skip)
    seen = observation
    while True:
        step, told = _lead(crew, seen, {*machines, ROOT})
        # The root is asked last, because its word ends the trial.
        for name in sorted(told, key=lambda name: name == ROOT):
            if step.done:
                return
            step, seen = _delegate(crew, name, seen)
        if step.done:
            return


def _lead(crew: Crew, seen: Observation, members: Collection[str]) -> tuple[Step, list[str]]:
    """Ask the main agent, and pass its messages on; return whom it told, in order."""
    said = crew.ask(MAIN, seen)
    fault = _fault_of(said, members)
    valid = [] if fault or said.turn.fault else list(said.messages)
    handed = [{"to": name, "message": message} for name, message in valid]
    step = crew.consult(MAIN, said, fault=fault, about={"handovers": handed})
    for name, message in valid:
        crew.inform(name, prompts.MESSAGE.format(member=MAIN, message=message))
    return step, list(dict.fromkeys(name for name, _ in valid))


def _fault_of(said: Said, members: Collection[str]) -> str:
    if not said.messages:
        return prompts.NOBODY
    for name, _ in said.messages:
        if name not in members:
            known = ", ".join(sorted(members))
            return prompts.STRANGER.format(member=name[:64], names=known)
    return ""


def _delegate(crew: Crew, name: str, seen: Observation) -> tuple[Step, Observation]:
    """Let a member act that was told to; return the outcome and what is now on the screens."""
    said = crew.ask(name, seen)
    if said.skips and not said.turn.actions and not said.turn.fault:
        step = crew.consult(name, said, about={"skipped": True})
        crew.inform(MAIN, prompts.SKIPPED.format(member=name))
        return step, seen
    step = crew.act(name, said)
    _report(crew, name, said, step)
    return step, step.observation


def _report(crew: Crew, name: str, said: Said, step: Step) -> None:
    if step.feedback:
        crew.inform(MAIN, prompts.FAILED.format(member=name, why=step.feedback))
    else:
        done = describe_actions(said.turn.actions)
        crew.inform(MAIN, prompts.DID.format(member=name, actions=done))
