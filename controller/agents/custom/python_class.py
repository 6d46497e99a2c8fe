"""Agents that are Python classes of the user: ``module:Class`` or ``file.py:Class``."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.agents.custom.output import AgentOutput, printing_to
from controller.agents.custom.turns import as_turn
from controller.agents.places import place_of, place_of_code
from controller.registered.source import digest_module
from controller.specification.agent import PythonSpec
from foundation.errors import AgentError, SpecError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from types import ModuleType

    from controller.observation.observer import Observation
    from controller.protocol import Agent, AgentContext, MakeAgent, Turn


def specify_class(reference: str, folder: Path | None = None) -> PythonSpec:
    """Return the specification of a class.

    Args:
        reference: module or file, a colon, and the name of the class.
        folder: additional search folder for files and modules; the current one by default.

    Raises:
        UsageError: the reference is invalid, or there is no such class.
        SpecError: the module cannot be imported.
    """
    folder = folder or Path.cwd()
    module = _load(reference, folder)
    _class_of(module, reference)
    digest = digest_module(Path(module.__file__ or ""))
    return PythonSpec(reference=reference, folder=str(folder), digest=digest)


def make_class_agent(spec: PythonSpec) -> MakeAgent:
    """Return a factory for agents of a specified class.

    The class is called with the `AgentContext` of each trial, or without arguments if it accepts
    none.

    Raises:
        UsageError: its files have changed.
        SpecError: the module cannot be imported.
    """
    module = _load(spec.reference, Path(spec.folder))
    chosen = _class_of(module, spec.reference)
    if digest_module(Path(module.__file__ or "")) != spec.digest:
        raise UsageError(
            f"The agent {spec.reference} has changed since the run started.",
            resolution="Start a new run, or restore its files.",
        )
    takes_context = _takes_context(chosen)

    def make(context: AgentContext, /) -> Agent:
        output = AgentOutput()
        context.diary.follow(output.take)
        with printing_to(output):
            return ClassAgent(chosen(context) if takes_context else chosen(), output)

    return make


class ClassAgent:
    """Calls an agent of a user's class, and redirects its output to the trial's log.

    Args:
        agent: instance of the class.
        output: receives its output.
    """

    def __init__(self, agent: Any, output: AgentOutput) -> None:  # noqa: ANN401 - as users make them
        self._agent = agent
        self._output = output

    def act(self, observation: Observation) -> Turn:
        """Return the agent's turn.

        Raises:
            AgentError: the turn is invalid; the details contain file and line of the method.
            Exception: any exception of the agent.
        """
        with printing_to(self._output):
            value = self._agent.act(observation)
            try:
                return as_turn(value)
            except AgentError as exc:
                exc.details = "\n".join(filter(None, (place_of_code(self._agent.act), exc.details)))
                raise

    def close(self) -> None:
        """Close the agent if it has a method ``close``."""
        close = getattr(self._agent, "close", None)
        if callable(close):
            with printing_to(self._output):
                close()


def _load(reference: str, folder: Path) -> ModuleType:
    place, _, _ = reference.rpartition(":")
    if not place:
        raise UsageError(
            f"{reference!r} is not a reference to a class.",
            resolution="Write module:Class or file.py:Class.",
        )
    try:
        with printing_to():
            if place.endswith(".py"):
                return _load_file(folder / place)
            _make_importable(folder)
            return importlib.import_module(place)
    except ModuleNotFoundError as exc:
        is_itself = exc.name and place.startswith(exc.name)
        raise (_no_module if is_itself else _broken)(place, folder, exc) from exc
    except UsageError:
        raise
    except (Exception, SystemExit) as exc:
        raise _broken(place, folder, exc) from exc


def _load_file(path: Path) -> ModuleType:
    path = path.resolve()
    if not path.is_file():
        raise UsageError(f"There is no file {path}.")
    name = f"mesocosm_agent_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file.")
    _make_importable(path.parent)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _make_importable(folder: Path) -> None:
    """Append a folder to the module search path, with the lowest priority."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    importlib.invalidate_caches()


def _no_module(place: str, folder: Path, error: Exception) -> UsageError:
    return UsageError(
        f"There is no module {place!r}.",
        details=str(error),
        resolution=f"Put it into {folder}, or install its package.",
    )


def _broken(place: str, _folder: Path, error: BaseException) -> SpecError:
    text = f"{type(error).__name__}: {error}"
    return SpecError(
        f"The agent's module {place!r} cannot be imported.", f"{place_of(error)}\n{text}"
    )


def _class_of(module: ModuleType, reference: str) -> Any:  # noqa: ANN401 - anything that can be called
    name = reference.rpartition(":")[2]
    if not hasattr(module, name):
        raise UnknownNameError.of(f"class in {module.__file__}", name, _classes(module))
    chosen = getattr(module, name)
    if not callable(chosen) or (inspect.isclass(chosen) and not hasattr(chosen, "act")):
        raise UsageError(
            f"{reference} is not an agent.",
            resolution="An agent is a class with a method act(self, observation); see docs/agents.md.",
        )
    return chosen


def _classes(module: ModuleType) -> list[str]:
    members = inspect.getmembers(module, inspect.isclass)
    return [name for name, member in members if hasattr(member, "act")]


def _takes_context(chosen: Any) -> bool:  # noqa: ANN401 - anything that can be called
    try:
        inspect.signature(chosen).bind(None)
    except TypeError:
        return False
    return True
