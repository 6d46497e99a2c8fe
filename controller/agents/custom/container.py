"""Registered agents of users: commands that speak JSON lines, isolated in containers.

The container has no network except a connection to its model (see `model_access`), no capabilities,
a read-only file system, limited memory and processes, and access to only the agent's own folder on
this host. In the controller's image, which it uses by default, the source is hidden because it
contains the reference solutions of the built-in suites.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from controller.agents.custom.command import CommandAgent
from controller.models.adapters import require_model
from controller.models.specification import registered_settings
from controller.models.usage import NO_USAGE
from controller.registered.agents import agent_copies, read_definition
from controller.specification.agent import RegisteredSpec
from foundation.errors import (
    AgentError,
    MesocosmError,
    RequirementError,
    ToolMissingError,
    UsageError,
)
from foundation.process import find_tool, run
from images.store import iter_manifests

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from controller.agents.custom.model_access import ModelAccess
    from controller.models.outage import OutageMeter
    from controller.models.settings import ModelSettings
    from controller.models.usage import Usage, UsageMeter
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext, MakeAgent, Turn
    from controller.registered.agents import AgentDefinition
    from controller.registered.copies import Entry
    from foundation.settings import Settings

LABEL = "mesocosm.agent"
"""Label of all these containers; its value is the process that started the container."""

_DOCKER = "docker"
_HOME = "/agent"
_NOBODY = "65534:65534"
_HIDDEN = "/opt/mesocosm/src"
_TIMEOUT_S = 60.0
_RELAY_MIB = 64
_RELAY_PIDS = 16
_log = logging.getLogger(__name__)


def specify_container(entry: Entry, settings: Settings, chosen: ModelSettings) -> RegisteredSpec:
    """Return the specification of a registered agent.

    Args:
        entry: the agent's registered copy.
        settings: the location of registered agents.
        chosen: the operator's model, which the agent uses if it queries one.

    Raises:
        SpecError: its ``agent.yaml`` cannot be read.
        RequirementError: Docker, the agent's image or the settings of the model are missing.
    """
    definition = read_definition(agent_copies(settings).content(entry))
    image = _image_id(definition.image or own_image(settings))
    model = require_model(chosen) if definition.model else None
    return RegisteredSpec(
        name=entry.name,
        digest=entry.digest,
        image=image,
        model=model.name if model else "",
        endpoint=model.endpoint if model else "",
        adapter=chosen.adapter,
    )


def make_container_agent(
    spec: RegisteredSpec, settings: Settings, chosen: ModelSettings
) -> MakeAgent:
    """Return a factory that starts the container of a trial.

    Args:
        spec: the agent's specification.
        settings: the location of registered agents.
        chosen: the operator's model; its key is read now.

    Raises:
        UsageError: the agent is no longer registered, or the model differs from that of the run.
        RequirementError: Docker, the agent's image or the settings of the model are missing.
    """
    copies = agent_copies(settings)
    entry = copies.find(f"{spec.name}@{spec.digest}")
    if entry is None:
        raise UsageError(
            f"This version of the agent {spec.name!r} is no longer registered.",
            resolution="Register it again with `mesocosm agent add`.",
        )
    folder = copies.content(entry)
    definition = read_definition(folder)
    image = _image_id(spec.image)
    remove_leftovers()
    if not definition.model:
        return lambda context: ContainerAgent(context, definition, folder, image)
    model = require_model(registered_settings(spec, chosen))
    open_access, environment = _access_to(model, settings)
    informed = definition.model_copy(update={"environment": definition.environment | environment})
    return lambda context: ContainerAgent(
        context, informed, folder, image, open_access, prices=model.prices
    )


def _access_to(
    model: ModelSettings, settings: Settings
) -> tuple[Callable[[str], ModelAccess], dict[str, str]]:
    """Return a factory of model access by container name, and the agent's environment variables.

    Raises:
        RequirementError: a package or the image of the controller is missing.
    """
    try:
        from controller.agents.custom import model_access  # noqa: PLC0415 - of extras
    except ModuleNotFoundError as exc:
        raise RequirementError(
            f"A registered agent that queries a model needs the package {exc.name!r}.",
            resolution="Install the extras: pip install 'mesocosm[openai,service]'.",
        ) from exc
    image = _image_id(own_image(settings))
    folder = settings.agent_sockets_dir
    model_access.remove_sockets(folder, _is_alive)

    def open_access(name: str) -> ModelAccess:
        return model_access.ModelAccess(model, folder, partial(relay_argv, name, image=image))

    return open_access, model_access.model_environment(model)


class ContainerAgent(CommandAgent):
    """A command in its own container, which is removed when the trial is over.

    Args:
        context: context of the trial.
        definition: definition of the agent.
        folder: folder with its files.
        image: id of the image.
        open_access: starts a relay container with the given name, in whose network the model is
            available; None if the agent queries no model.
        prices: prices of a million tokens sent, received and cached, US dollars; 0 if unknown.

    Raises:
        ToolMissingError: Docker is missing.
        ModelUnavailableError: the connection to its model cannot be established.
    """

    def __init__(
        self,
        context: AgentContext,
        definition: AgentDefinition,
        folder: Path,
        image: str,
        open_access: Callable[[str], ModelAccess] | None = None,
        *,
        prices: tuple[float, float, float | None] = (0.0, 0.0, None),
    ) -> None:
        self._meter: OutageMeter | None = None
        self._usage: UsageMeter | None = None
        self._prices = prices
        self._is_measured = True
        name = f"mesocosm-agent-{secrets.token_hex(6)}"
        relay = f"{name}-model" if open_access else ""
        argv = container_argv(name, definition, folder, image, relay)
        with contextlib.ExitStack() as stack:
            stack.callback(_remove, [name, *([relay] if relay else [])])
            if open_access:
                access = open_access(relay)
                stack.callback(access.close)
                self._meter, self._usage = access.meter, access.usage
            super().__init__(context, argv, folder)
            self._started = stack.pop_all()

    def act(self, observation: Observation) -> Turn:
        """Return the agent's turn, with outages and usage of its model as measured, not as reported.

        Raises:
            AgentError: the process ended, or sent an invalid turn.
        """
        try:
            turn = super().act(observation)
        except AgentError as exc:
            exc.outage_s = self._outage_s(0.0)
            usage = self._used(NO_USAGE)
            exc.tokens, exc.usd = usage.tokens, usage.usd
            raise
        usage = self._used(turn.usage)
        return replace(turn, usage=usage, outage_s=self._outage_s(turn.outage_s))

    def pending_outage_s(self) -> float:
        """Return the outage in the current turn, if the requests in progress remain unanswered."""
        return self._meter.pending_s() if self._meter else 0.0

    def _used(self, reported: Usage) -> Usage:
        """Return the usage of the turn that ends now, and log it if it was reported otherwise.

        It is what the replies of the model reported. Once one of them did not, as streamed ones may
        not, the agent's own report counts if it is higher.
        """
        if self._usage is None:
            return reported
        measured = self._usage.take().priced(*self._prices)
        self._is_measured = self._is_measured and measured.is_known
        is_used = not self._is_measured and reported.total > measured.total
        usage = reported if is_used else measured
        if not usage.usd:
            usage = replace(usage, usd=reported.usd)
        if reported.tokens[:2] != measured.tokens[:2]:
            texts = {"measured": measured.to_dict(), "reported": reported.to_dict()}
            self._context.diary.write("usage", **texts)
        return usage

    def _outage_s(self, reported_s: float) -> float:
        """Return the measured outage of the turn that ends now, and log it."""
        outage_s = self._meter.take_s() if self._meter else 0.0
        if outage_s or reported_s:
            rounded_s = round(outage_s, 3)
            self._context.diary.write("outage", measured_s=rounded_s, reported_s=reported_s)
        return outage_s

    def close(self) -> None:
        """Notify the agent that the trial is over, and remove its containers."""
        try:
            super().close()
        finally:
            self._started.close()


def container_argv(
    name: str, definition: AgentDefinition, folder: Path, image: str, relay: str = ""
) -> list[str]:
    """Return the command that runs an agent in its container.

    Args:
        name: name of the container.
        definition: definition of the agent.
        folder: folder with its files.
        image: id of the image.
        relay: name of the container whose network it shares; no network by default.
    """
    program, *arguments = definition.command
    network = [f"--network=container:{relay}"] if relay else ["--network=none", "--hostname=agent"]
    return [
        *_run(name, definition.memory_mib, definition.pids),
        *network,
        "--tmpfs=/tmp:size=64m,mode=1777",
        *(f"--mount=type=bind,source={folder},target={_HOME},readonly", f"--workdir={_HOME}"),
        *("--env=HOME=/tmp", "--env=PYTHONDONTWRITEBYTECODE=1"),
        *(f"--env={key}={value}" for key, value in definition.environment.items()),
        f"--entrypoint={program}",
        image,
        *arguments,
    ]


def relay_argv(name: str, mount: str, arguments: list[str], *, image: str) -> list[str]:
    """Return the command that runs the relay to a model in its container.

    Args:
        name: name of the container.
        mount: mount of the socket that it forwards bytes to.
        arguments: arguments of Python.
        image: id of an image with Python.
    """
    return [
        *_run(name, _RELAY_MIB, _RELAY_PIDS),
        *("--network=none", "--hostname=agent", f"--mount={mount}"),
        *("--entrypoint=python3", image, *arguments),
    ]


def _run(name: str, memory_mib: int, pids: int) -> list[str]:
    """Return the common arguments of a command that runs an isolated container."""
    memory = f"{memory_mib}m"
    return [
        *(_DOCKER, "run", "--rm", "--interactive", "--pull=never", f"--name={name}"),
        *(f"--label={LABEL}={os.getpid()}", "--log-driver=none"),
        *("--read-only", "--cap-drop=ALL", f"--user={_NOBODY}"),
        *("--security-opt=no-new-privileges", "--ipc=private"),
        *(f"--memory={memory}", f"--memory-swap={memory}", f"--pids-limit={pids}"),
        f"--tmpfs={_HIDDEN}:ro,size=4k",
    ]


def remove_leftovers() -> None:
    """Remove containers of agents whose controller process was killed."""
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
        # `--rm` was faster, or the engine is gone; starting the next agent removes leftovers.
        _log.info("cannot remove the containers of agents: %s", exc)


def _is_alive(pid: str) -> bool:
    return os.path.exists(f"/proc/{pid}")  # noqa: PTH110 - not a file


def own_image(settings: Settings) -> str:
    """Return the tag of the newest controller image, even if it is outdated.

    Raises:
        RequirementError: no such image is built.
    """
    dated_tags = [
        (folder.stat().st_mtime, manifest.docker_tag)
        for folder, manifest in iter_manifests(settings.images_dir)
        if not isinstance(manifest, MesocosmError) and manifest.name == "controller"
    ]
    tags = [tag for _, tag in sorted(dated_tags, key=lambda pair: pair[0]) if tag]
    if not tags:
        raise RequirementError(
            "Registered agents run in the controller's image, which is not built.",
            resolution="Run `mesocosm image build controller`, or set `image` in agent.yaml.",
        )
    return tags[-1]


def _image_id(image: str) -> str:
    """Return the id of a local Docker image.

    Raises:
        RequirementError: Docker or the image is missing.
    """
    if find_tool(_DOCKER) is None:
        raise RequirementError(
            "Registered agents need Docker, which is not installed.",
            resolution="Install Docker (see `mesocosm doctor`), or use --agent-command.",
        )
    try:
        answer = run([_DOCKER, "image", "inspect", "--format={{.Id}}", image], timeout_s=_TIMEOUT_S)
    except ToolMissingError as exc:
        raise RequirementError(exc.brief, exc.details, exc.resolution) from exc
    if answer.exit_code:
        raise RequirementError(
            f"The Docker engine does not have the image {image} for a registered agent.",
            details=answer.stderr.decode(errors="replace").strip(),
            resolution="Start the engine, or load the image: images are not pulled automatically.",
        )
    return answer.stdout.decode().strip()
