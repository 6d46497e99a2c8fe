"""Registered agents of users, referred to by name like the built-in ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from controller.registered.copies import Copies
from controller.registered.source import digest_files
from controller.specification.agent import KINDS
from evaluators.model.codecs import parse
from foundation.errors import SpecError
from foundation.strict import Name, Strict
from foundation.yaml_source import read_yaml

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from controller.registered.copies import Entry
    from foundation.settings import Settings

INDEX = "agent.yaml"
RESERVED = KINDS | {"human"}
"""Names of built-in agents, and names that results use."""

_Word = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]


class AgentDefinition(Strict):
    """The content of ``agent.yaml``.

    Attributes:
        name: name of the agent.
        command: program and arguments; it starts in the agent's folder, without a shell.
        description: one or two sentences.
        image: Docker image; by default that of the appliance's controller, which has Python.
        memory_mib: memory limit.
        pids: limit of processes and threads.
        environment: further variables; must not contain secrets, because they are copied.
        model: whether it queries the operator's model, which is then available on its loopback.
    """

    name: Name
    command: tuple[_Word, ...] = Field(min_length=1, strict=False)
    description: str = ""
    image: str = Field(default="", max_length=300, pattern=r"^([A-Za-z0-9][\w.:/@-]*)?$")
    memory_mib: int = Field(default=1024, ge=32, le=262_144)
    pids: int = Field(default=256, ge=4, le=32_768)
    environment: dict[str, str] = Field(default_factory=dict)
    model: bool = False

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        if self.name in RESERVED:
            message = f"{self.name!r} is the name of a built-in agent; choose another name."
            raise ValueError(message)
        for name in self.environment:
            if not name.isidentifier():
                message = f"{name!r} is not a valid variable name."
                raise ValueError(message)
        return self


def agent_copies(settings: Settings) -> Copies:
    """Return the registered agents of an appliance."""
    return Copies(settings.registered_dir / "agents", "agent")


def read_definition(folder: Path) -> AgentDefinition:
    """Return the definition in an agent's folder.

    Raises:
        SpecError: its ``agent.yaml`` cannot be read or is invalid.
    """
    return parse(read_yaml(folder / INDEX), AgentDefinition)


def add_agent(folder: Path, settings: Settings) -> Entry:
    """Validate an agent and register a copy of it; registering it twice is not an error.

    Args:
        folder: the folder with its ``agent.yaml`` and all files that it needs.
        settings: the location of registered agents.

    Raises:
        SpecError: its ``agent.yaml`` is missing or invalid.
    """
    if not (folder / INDEX).is_file():
        raise SpecError(
            f"{folder} is not an agent: it has no {INDEX}.",
            resolution="Add it; docs/agents.md describes the content of an agent's folder.",
        )
    read_definition(folder)
    return agent_copies(settings).add(folder, _examine)


def _examine(folder: Path) -> tuple[str, str, str]:
    definition = read_definition(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return definition.name, digest_files(files, folder), definition.description
