"""The rows of an experiment as requests for runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.agents.custom.http_endpoint import is_endpoint
from controller.specification.presets import PROFILES, parse_observation
from controller.specification.request import RunRequest, parse_request
from controller.specification.team import STRUCTURES
from evaluators.loading.suite import list_subsets, list_suites
from foundation.files import digest_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from controller.experiments.definition import Experiment, RowSettings
    from controller.specification.observation import ObservationSpec

_UNCHANGED = {"parallel", "isolate", "preflight", "budget"}
"""What a row's identity does not depend on: it may change between parts of one experiment."""


def request_of(experiment: Experiment, settings: RowSettings, folder: Path) -> RunRequest:
    """Return the request for the run of a row.

    Args:
        experiment: the experiment.
        settings: settings of the row, with those of all rows.
        folder: folder of the file, which paths are relative to.

    Raises:
        UnknownNameError: there is no such observation.
        UsageError: a value is invalid.
    """
    profile = PROFILES[settings.profile or ""]
    limits: dict[str, Any] = settings.limits.model_dump() if settings.limits else {}
    for name, value in (("steps", profile.steps), ("turns", profile.turns)):
        if limits.get(name) is None:
            limits[name] = value
    agent = settings.agent or ""
    has_code = settings.agent_command is not None or (":" in agent and not is_endpoint(agent))
    return parse_request(
        {
            "suite": _path_unless(experiment.suite, [*list_suites(), *list_subsets()], folder),
            "agent": agent,
            "command": settings.agent_command,
            "folder": str(folder) if has_code else None,
            "script": None if settings.script is None else str(folder / settings.script),
            "solution": settings.solution or "",
            "replay": settings.replay or "",
            "model": settings.model,
            "adapter": settings.adapter,
            "family": settings.family,
            "base_url": settings.base_url,
            "key": settings.key or "",
            "extra_fields": settings.extra,
            "image_scale": settings.image_scale,
            "history": settings.history or profile.history,
            "pictures": settings.pictures or profile.history,
            "team": _path_unless(settings.team or "", STRUCTURES, folder),
            "calls": settings.calls,
            "tasks": experiment.tasks,
            "tags": experiment.tags,
            "platforms": experiment.platforms,
            "subset": experiment.subset,
            "limits": limits,
            "budget": experiment.budget.to_spec(),
            "repeats": experiment.repeats,
            "retries": experiment.retries,
            "seed": experiment.seed,
            "order": experiment.order,
            "keep_end_state": experiment.keep_end_state,
            "interface": settings.interface or "both",
            "code": bool(settings.code),
            "action_set": settings.action_set or profile.action_set,
            "observation": _observation(profile.observe, settings),
            "trees": bool(settings.trees),
            "feedback": settings.feedback or "none",
            "parallel": experiment.parallel,
            "isolate": experiment.isolate,
            "fleet": experiment.fleet,
        }
    )


def digest_of(request: RunRequest) -> str:
    """Return what identifies a row: a digest of everything in its request that can change a score."""
    return digest_json(request.model_dump(mode="json", exclude=_UNCHANGED))


def _observation(first: Iterable[str], settings: RowSettings) -> ObservationSpec:
    return parse_observation([*first, *(settings.observe or ())])


def _path_unless(text: str, names: Iterable[str], folder: Path) -> str:
    """Return a path relative to a folder as an absolute one; names stay unchanged."""
    if not text or text in names or not (folder / text).exists():
        return text
    return str((folder / text).resolve())
