"""Registered agents of users: JSON lines like other commands, in a container that reaches nothing.

The container has no network, no capabilities, a read-only file system, bounded memory and processes,
and of this host the agent's own folder alone. Of the controller's image, which it uses by default, the
source is hidden: it holds the reference solutions of the suites that ship.
"""

from __future__ import annotations

import logging
import os
import secrets
from typing import TYPE_CHECKING

from appliance.base.errors import MesocosmError, RequirementError, ToolMissingError, UsageError
from appliance.base.process import find_tool, run
from controller.agents.custom.command import CommandAgent
from controller.registered.agents import agent_copies, read_definition
from controller.store.agent_spec import RegisteredSpec
from images.store import iter_manifests

if TYPE_CHECKING:
    from pathlib import Path

    from appliance.base.settings import Settings
    from controller.agents.protocol import AgentContext, MakeAgent
    from controller.registered.agents import AgentDefinition
    from controller.registered.copies import Entry

LABEL = "mesocosm.agent"
"""Of every container here; its value is the process that started it."""

_DOCKER = "docker"
_HOME = "/agent"
_NOBODY = "65534:65534"
_HIDDEN = "/opt/mesocosm/src"
_TIMEOUT_S = 60.0
_log = logging.getLogger(__name__)


def specify_container(entry: Entry, settings: Settings) -> RegisteredSpec:
    """Return the specification of a registered agent.

    Raises:
        SpecError: its ``agent.yaml`` cannot be read.
        RequirementError: there is no Docker, or its image is not there.
    """
    definition = read_definition(agent_copies(settings).content(entry))
    image = _image_id(definition.image or own_image(settings))
    return RegisteredSpec(name=entry.name, digest=entry.digest, image=image)


def make_container_agent(spec: RegisteredSpec, settings: Settings) -> MakeAgent:
    """Return what starts the container of a trial.

    Raises:
        UsageError: the agent is not registered any more.
        RequirementError: there is no Docker, or the agent's image is gone.
    """
    copies = agent_copies(settings)
    entry = copies.find(f"{spec.name}@{spec.digest}")
    if entry is None:
        raise UsageError(
            f"The agent {spec.name!r} is not registered as it was when the run began.",
            resolution="Add it again with `mesocosm agent add`.",
        )
    folder = copies.content(entry)
    definition = read_definition(folder)
    image = _image_id(spec.image)
    remove_leftovers()
    return lambda context: ContainerAgent(context, definition, folder, image)


class ContainerAgent(CommandAgent):
    """A command in a container of its own, which is removed when the trial is over.

    Args:
        context: of the trial.
        definition: of the agent.
        folder: with its files.
        image: id of the image.

    Raises:
        ToolMissingError: there is no Docker.
    """

    def __init__(
        self, context: AgentContext, definition: AgentDefinition, folder: Path, image: str
    ) -> None:
        self._container = f"mesocosm-agent-{secrets.token_hex(6)}"
        argv = container_argv(self._container, definition, folder, image)
        super().__init__(context, argv, folder)

    def close(self) -> None:
        """Tell the agent that the trial is over, and remove its container."""
        try:
            super().close()
        finally:
            _remove([self._container])


def container_argv(name: str, definition: AgentDefinition, folder: Path, image: str) -> list[str]:
    """Return the command that runs an agent in its container.

    Args:
        name: of the container.
        definition: of the agent.
        folder: with its files.
        image: id of the image.
    """
    program, *arguments = definition.command
    memory = f"{definition.memory_mib}m"
    return [
        *(_DOCKER, "run", "--rm", "--interactive", "--pull=never", f"--name={name}"),
        *(f"--label={LABEL}={os.getpid()}", "--log-driver=none", "--hostname=agent"),
        *("--network=none", "--read-only", "--cap-drop=ALL", f"--user={_NOBODY}"),
        *("--security-opt=no-new-privileges", "--ipc=private"),
        *(f"--memory={memory}", f"--memory-swap={memory}", f"--pids-limit={definition.pids}"),
        *("--tmpfs=/tmp:size=64m,mode=1777", f"--tmpfs={_HIDDEN}:ro,size=4k"),
        *(f"--mount=type=bind,source={folder},target={_HOME},readonly", f"--workdir={_HOME}"),
        *("--env=HOME=/tmp", "--env=PYTHONDONTWRITEBYTECODE=1"),
        *(f"--env={key}={value}" for key, value in definition.environment.items()),
        f"--entrypoint={program}",
        image,
        *arguments,
    ]


def remove_leftovers() -> None:
    """Remove the containers of agents whose process was killed."""
    shown = f'{{{{.ID}}}} {{{{.Label "{LABEL}"}}}}'
    listed = run(
        [_DOCKER, "ps", "--all", f"--filter=label={LABEL}", f"--format={shown}"],
        timeout_s=_TIMEOUT_S,
    ).require("Start the Docker engine; `mesocosm doctor` checks the host.")
    rows = (line.split() for line in listed.stdout.decode().splitlines())
    _remove([row[0] for row in rows if len(row) > 1 and not _is_alive(row[1])])


def _remove(containers: list[str]) -> None:
    if not containers:
        return
    try:
        run([_DOCKER, "rm", "--force", "--volumes", *containers], timeout_s=_TIMEOUT_S).require()
    except MesocosmError as exc:
        # `--rm` was quicker, or the engine is gone; the next agent's start removes what is left.
        _log.info("containers of agents were not removed: %s", exc)


def _is_alive(pid: str) -> bool:
    return os.path.exists(f"/proc/{pid}")  # noqa: PTH110 - it is no file


def own_image(settings: Settings) -> str:
    """Return the tag of the newest image of the controller, current or not.

    Raises:
        RequirementError: none is built.
    """
    found = [
        (folder.stat().st_mtime, manifest.docker_tag)
        for folder, manifest in iter_manifests(settings.images_dir)
        if not isinstance(manifest, MesocosmError) and manifest.name == "controller"
    ]
    tags = [tag for _, tag in sorted(found, key=lambda pair: pair[0]) if tag]
    if not tags:
        raise RequirementError(
            "Registered agents run in the controller's image, which is not built.",
            resolution="Run `mesocosm image build controller`, or name an `image` in agent.yaml.",
        )
    return tags[-1]


def _image_id(image: str) -> str:
    """Return the id of an image that the Docker engine has.

    Raises:
        RequirementError: there is no Docker, or it has no such image.
    """
    if find_tool(_DOCKER) is None:
        raise RequirementError(
            "A registered agent runs in a container, and Docker is not installed.",
            resolution="Install Docker: `mesocosm doctor` says how. Or give --agent-command.",
        )
    try:
        answer = run([_DOCKER, "image", "inspect", "--format={{.Id}}", image], timeout_s=_TIMEOUT_S)
    except ToolMissingError as exc:
        raise RequirementError(exc.brief, exc.details, exc.resolution) from exc
    if answer.exit_code:
        raise RequirementError(
            f"The Docker engine does not have the image {image} for a registered agent.",
            details=answer.stderr.decode(errors="replace").strip(),
            resolution="Start the engine, or load the image: none is pulled.",
        )
    return answer.stdout.decode().strip()
