"""Report the results of a run as JSON or as text."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from controller.episode.result import FAILED, Reason
from controller.specification.agent import agent_name, model_name
from controller.specification.run import trial_seed
from controller.store.run_fleet import fleet_of
from controller.store.spending import BUDGET_SPENT, RunBudget, read_budget, spending_of
from controller.store.unfinished import read_unfinished
from evaluators.graph.outcome import Verdict
from evaluators.metrics import Metrics, measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.episode.result import MachineRecord, TrialResult
    from controller.models.usage import Usage
    from controller.specification.run import RunSpec
    from controller.store.proofs import Proven
    from controller.store.regrade_record import Regrade
    from controller.store.runs import RunFolder
    from controller.store.unfinished import Unfinished
    from evaluators.loading.suite import Suite
    from provisioning.protocols import Json

_REFERENCE_PHONE = "reference-phone"
_UNPROVEN_SHOWN = 5
_EFFECTS_SHOWN = 10
"""Maximum number of side effects listed per trial; JSON contains more."""


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a run.

    Attributes:
        spec: the run's specification.
        trials: finished trials, in the planned order.
        unfinished: unfinished trials.
        attempts: all attempts at each trial, oldest first, by task and repeat; None for lost ones.
        budget: budget and cost of all attempts.
        regrades: regrades of the last attempt at each trial, oldest first.
        proven: how each task was proven when the run was created.
    """

    spec: RunSpec
    trials: tuple[TrialResult, ...]
    unfinished: tuple[Unfinished, ...]
    attempts: Mapping[tuple[str, int], Sequence[TrialResult | None]] = field(default_factory=dict)
    budget: RunBudget = field(default_factory=RunBudget)
    regrades: Mapping[tuple[str, int], Sequence[Regrade]] = field(default_factory=dict)
    proven: Mapping[str, Proven] = field(default_factory=dict)

    @property
    def ended(self) -> str:
        """``complete``, or else ``budget_spent`` or ``unfinished``."""
        is_judged = all(trial.reason is not Reason.CANCELLED for trial in self.trials)
        if is_judged and not self.unfinished:
            return "complete"
        return BUDGET_SPENT if self.budget.excess() else "unfinished"

    @property
    def metrics(self) -> Metrics:
        """SR, CR, EE and CE over the finished trials."""
        return measure([trial.score for trial in self.trials])

    @property
    def verdicts(self) -> dict[str, int]:
        """Number of trials for each of the three verdicts."""
        counts = Counter(trial.verdict for trial in self.trials)
        return {verdict.value: counts[verdict] for verdict in Verdict}

    @property
    def machines(self) -> tuple[MachineRecord, ...]:
        """One machine for each combination of kind, backend, image and accelerator."""
        machines: dict[tuple[str, ...], MachineRecord] = {}
        for trial in self.trials:
            for machine in trial.machines:
                key = (machine.kind, machine.backend, machine.image_digest, machine.accelerator)
                machines.setdefault(key, machine)
        return tuple(machines.values())

    @property
    def accelerator(self) -> str | None:
        """The accelerator of virtual machines: ``kvm``, ``tcg`` or both joined by ``+``.

        ``none`` if there were no virtual machines, None if there were no machines.
        """
        names = {machine.accelerator for machine in self.machines} - {"none"}
        if names:
            return "+".join(sorted(names))
        return "none" if self.machines else None

    @property
    def side_effects(self) -> dict[str, Json]:
        """Number of trials with known side effects, number and share of those with any."""
        known = [trial.side_effects for trial in self.trials if trial.side_effects is not None]
        dirty = sum(1 for effects in known if effects.count)
        return {
            "trials": len(known),
            "with_side_effects": dirty,
            "rate": dirty / len(known) if known else None,
            "with_baseline": sum(1 for effects in known if effects.has_baseline),
        }

    @property
    def tools(self) -> dict[str, Json]:
        """Use of tools beside the screen in the trials that offered any."""
        offered = [trial for trial in self.trials if trial.tools_offered]
        steps = sum(trial.steps for trial in offered)
        calls = sum(trial.tool_calls for trial in offered)
        shares = [share for trial in offered for share in trial.members.values()]
        invoked = sum(1 for trial in offered if trial.tool_calls)
        return {
            "trials": len(offered),
            "with_calls": invoked,
            "invocation_rate": invoked / len(offered) if offered else None,
            "calls": calls,
            "distractor_calls": sum(share.distractor_calls for share in shares),
            "share_of_steps": calls / steps if steps else None,
        }

    @property
    def proof(self) -> Proven:
        """How the run's tasks are proven: as the one that is proven least."""
        levels = {self.proven.get(task.id, "unproven") for task in self.spec.tasks}
        order: tuple[Proven, ...] = ("unproven", "quick", "full")
        return next((level for level in order if level in levels), "unproven")

    def to_dict(self) -> dict[str, Json]:
        """Return the machine-readable form, stable since version 0.1; keys are never removed."""
        return {
            "run": self.spec.run,
            "suite": {"name": self.spec.suite.name, "digest": self.spec.suite.digest},
            "proof": {
                "level": self.proof,
                "tasks": {
                    task.id: self.proven.get(task.id, "unproven") for task in self.spec.tasks
                },
            },
            "agent": self.spec.agent_name,
            "model": self.spec.model_name or None,
            "agents": [
                {
                    "name": member.name,
                    "agent": agent_name(member.agent),
                    "model": model_name(member.agent) or None,
                }
                for member in self.spec.agents
            ],
            "seed": self.spec.seed,
            "accelerator": self.accelerator,
            "fleet": fleet_of(self.spec, self.trials) or None,
            "trials": [
                {
                    **_trial(trial),
                    "seed": trial_seed(self.spec.seed, trial.task, trial.repeat),
                    **_attempts(self.attempts.get((trial.task, trial.repeat), ())),
                    "regrades": [
                        regrade.model_dump(mode="json")
                        for regrade in self.regrades.get((trial.task, trial.repeat), ())
                    ],
                }
                for trial in self.trials
            ],
            "verdicts": dict(self.verdicts),
            "metrics": self.metrics.to_dict(),
            "side_effects": self.side_effects,
            "tools": self.tools,
            "machines": [_machine(machine) for machine in self.machines],
            "spec": {"digest": self.spec.digest, **self.spec.model_dump(mode="json")},
            "ended": self.ended,
            "budget": self.budget.limits.model_dump(),
            "spent": self.budget.spent.to_dict(),
            "unfinished": [{**asdict(row), "unmet": _reasons(row)} for row in self.unfinished],
        }

    def summary(self) -> str:
        """Return rates, machines, and why nodes are unmet."""
        return "\n".join(_summary(self))


def read_report(folder: RunFolder, suite: Suite | None = None) -> Report:
    """Read a run from its logs.

    Args:
        folder: the run's folder.
        suite: the run's suite, for the nodes of unfinished trials.

    Raises:
        StoreError: a log is damaged.
    """
    unfinished = read_unfinished(folder, suite)
    logs = {trial: folder.attempts(*trial) for trial in folder.spec.planned}
    attempts = {trial: [attempt.result for attempt in log] for trial, log in logs.items()}
    every = (attempt for log in logs.values() for attempt in log)
    budget = RunBudget(read_budget(folder), spending_of(every, folder.spec))
    regrades = {trial: log[-1].regrades for trial, log in logs.items() if log}
    results = tuple(folder.results())
    return Report(
        folder.spec, results, tuple(unfinished), attempts, budget, regrades, folder.proven
    )


def _trial(trial: TrialResult) -> dict[str, Json]:
    return {
        "task": trial.task,
        "repeat": trial.repeat,
        "verdict": trial.verdict.value,
        "nodes_met": trial.nodes_met,
        "nodes": trial.nodes,
        "steps": trial.steps,
        "reason": trial.reason.value,
        "detail": trial.detail,
        "seconds": trial.seconds,
        "agent_seconds": trial.agent_seconds,
        "usage": _usage(trial.usage),
        "members": {
            name: {
                "steps": share.steps,
                "turns": share.turns,
                "met": list(share.met),
                "agent_seconds": share.agent_seconds,
                "usage": _usage(share.usage),
                "refused": dict(share.refused),
                "tool_calls": share.tool_calls,
                "distractor_calls": share.distractor_calls,
            }
            for name, share in trial.members.items()
        },
        "ended_by": trial.ended_by or None,
        "tools_offered": trial.tools_offered,
        "unmet": _reasons(trial),
        "side_effects": None if trial.side_effects is None else asdict(trial.side_effects),
        "parameters": trial.parameters,
        "weighted": trial.weighted,
        "disagreements": [asdict(row) for row in trial.disagreements],
        "pressed": [asdict(row) for row in trial.pressed],
    }


def _usage(usage: Usage) -> dict[str, Json]:
    return {**usage.to_dict(), "usd": usage.usd, "is_known": usage.is_known}


def _attempts(results: Sequence[TrialResult | None]) -> dict[str, Json]:
    """Return the number of attempts, and the results of all but the last."""
    earlier: list[Json] = [
        {"attempt": number, "verdict": None, "reason": "lost", "detail": ""}
        if result is None
        else {
            "attempt": number,
            "verdict": result.verdict.value,
            "reason": result.reason.value,
            "detail": result.detail,
        }
        for number, result in enumerate(results[:-1], 1)
    ]
    return {"attempts": max(1, len(results)), "earlier": earlier}


def _reasons(trial: TrialResult | Unfinished) -> list[Json]:
    return [asdict(row) for row in trial.unmet]


def _machine(machine: MachineRecord) -> dict[str, Json]:
    kept = asdict(machine)
    del kept["role"], kept["machine_id"]
    return {**kept, "is_reference_phone": machine.backend == _REFERENCE_PHONE}


def _use_lines(report: Report) -> list[str]:
    """Return what agents did with tools, and which of their calls were refused; nothing if neither."""
    lines = []
    tools = report.tools
    if tools["trials"]:
        lines.append(
            f"tools were called in {tools['with_calls']} of {tools['trials']} trials that offered "
            f"some: {tools['calls']} calls, {tools['distractor_calls']} of distractors"
        )
    refused: Counter[str] = Counter()
    for trial in report.trials:
        for share in trial.members.values():
            refused.update(share.refused)
    if refused:
        kinds = ", ".join(f"{count} {code}" for code, count in sorted(refused.items()))
        lines.append(f"refused calls: {kinds}")
    return lines


def _proof_line(report: Report) -> str:
    """Return how the tasks are proven, with those that are not."""
    if report.proof == "full":
        return "proof: every task is proven (full)"
    if report.proof == "quick":
        return "proof: every task passes by its oracle and not by no action (quick)"
    ids = [task.id for task in report.spec.tasks]
    unproven = [name for name in ids if report.proven.get(name, "unproven") == "unproven"]
    more = ", ..." if len(unproven) > _UNPROVEN_SHOWN else ""
    names = ", ".join(unproven[:_UNPROVEN_SHOWN])
    return f"proof: unproven, {len(unproven)} of {len(ids)} tasks: {names}{more}"


def _summary(report: Report) -> list[str]:
    metrics = report.metrics
    counts = ", ".join(f"{number} {verdict}" for verdict, number in report.verdicts.items())
    lines = [counts, _proof_line(report)]
    if metrics.success_rate is not None and metrics.success_interval is not None:
        low, high = metrics.success_interval
        lines.append(
            f"SR {metrics.success_rate:.1%} (95 % interval over {metrics.tasks} task{'s' * (metrics.tasks != 1)}: {low:.1%} to {high:.1%}), "
            f"CR {_number(metrics.completion_ratio)}, EE {_number(metrics.execution_efficiency)}, "
            f"CE {_number(metrics.cost_efficiency)}"
        )
    if metrics.success_bounds is not None and metrics.inconclusive:
        low, high = metrics.success_bounds
        lines.append(f"SR with inconclusive trials counted as FAIL {low:.1%}, as PASS {high:.1%}")
    weighted = [trial.weighted for trial in report.trials if trial.weighted is not None]
    if weighted:
        lines.append(f"weighted CR {sum(weighted) / len(weighted):.3g} over {len(weighted)} trials")
    if report.ended == BUDGET_SPENT:
        left = len(report.unfinished)
        lines.append(f"the budget is spent ({report.budget.excess()}); {left} trials remain")
    if effects := _side_effects_line(report):
        lines.append(effects)
    lines += _use_lines(report)
    lines += _regrade_lines(report)
    for machine in report.machines:
        name = "reference phone" if machine.backend == _REFERENCE_PHONE else machine.backend
        under = "" if machine.accelerator == "none" else f", {machine.accelerator}"
        browser = f", {machine.browser}" if machine.browser else ""
        hand_made = ", hand-made" if machine.is_hand_made else ""
        lines.append(
            f"{machine.kind}: {name}, {machine.image} ({machine.image_digest[:12]}){hand_made}"
            f"{under}{browser}"
        )
    if any(machine.backend == _REFERENCE_PHONE for machine in report.machines):
        lines.append("Scores on the reference phone are not scores on Android.")
    lines += [
        f"{trial.task}.{trial.repeat}: {trial.detail}"
        for trial in report.trials
        if trial.detail and (trial.verdict is Verdict.INCONCLUSIVE or trial.reason in FAILED)
    ]
    lines += [
        f"{trial.task}.{trial.repeat} side effect: {row.role} {row.kind} {row.name} {row.change}"
        for trial in report.trials
        for row in (trial.side_effects.changes if trial.side_effects else ())[:_EFFECTS_SHOWN]
    ]
    lines += [
        f"{trial.task}.{trial.repeat}: pressed for the agent before judging: {row}"
        for trial in report.trials
        for row in trial.pressed
    ]
    lines += [
        f"{trial.task}.{trial.repeat}: the guest reports {row.guest}; {row.appliance}"
        for trial in report.trials
        for row in trial.disagreements
    ]
    trials: tuple[TrialResult | Unfinished, ...] = (*report.trials, *report.unfinished)
    for trial in trials:
        for row in trial.unmet:
            lines.append(f"{trial.task}.{trial.repeat} {row.node}: {row.why}")
            lines += [f"  not met: {check}" for check in row.checks]
    return lines


def _regrade_lines(report: Report) -> list[str]:
    """Return a line for each trial that was judged again; its original result is unchanged."""
    lines = []
    for (task, repeat), regrades in report.regrades.items():
        if regrades:
            last = regrades[-1]
            suite = f"{last.suite.name} {last.suite.version} ({last.suite.digest[:12]})"
            verb = "flips to" if last.is_flipped else "stays"
            lines.append(
                f"{task}.{repeat}: {last.former[0]} {verb} {last.verdict} ({last.reason}) "
                f"by regrade {last.number}, suite {suite}"
            )
    return lines


def _side_effects_line(report: Report) -> str:
    known = [trial.side_effects for trial in report.trials if trial.side_effects is not None]
    dirty = sum(1 for effects in known if effects.count)
    if not known:
        return ""
    bare = sum(1 for effects in known if effects.count and not effects.has_baseline)
    suite = report.spec.suite
    command = shlex.join(["mesocosm", "run", suite.folder or suite.name, "--agent", "noop"])
    note = (
        f"; {bare} of them have no baseline of changes without an agent (run: {command})"
        if bare
        else ""
    )
    return f"{dirty} of {len(known)} trials had side effects{note}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
