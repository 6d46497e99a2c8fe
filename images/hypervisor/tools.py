"""Programs of QEMU, which this host lacks, run in containers that have them."""

from __future__ import annotations

import atexit
import logging
import os
import shlex
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol

from foundation.errors import ToolFailedError, ToolTimeoutError
from images.engine import connect

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from images.recipe import Image

_log = logging.getLogger(__name__)

HYPERVISOR = "hypervisor"
"""Name of the image that has the programs."""
KVM_DEVICE = "/dev/kvm"

_TAIL_CHARS = 4000
_TIMED_OUT = (124, 137)
"""Exit codes of timeout(1): the program was ended, or had to be killed."""
_GONE = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
"""The container is removed already, or is being removed."""
_KILL_AFTER_S = 5
_SPARE_S = 30.0


class Tools(Protocol):
    """Runs QEMU's programs on this host's files."""

    def run(self, *argv: str, timeout_s: float) -> None:
        """Run a program to its end.

        Args:
            argv: program and arguments; paths are the host's.
            timeout_s: time limit.

        Raises:
            ToolFailedError: it failed; with the tail of its output.
            ToolTimeoutError: it did not end in time, and was killed.
            RequirementError: the Docker engine does not answer.
        """
        ...


@dataclass(frozen=True)
class ContainerTools:
    """Programs in a running container, which has the host's folders at the same paths.

    Files that they write belong to the user of this process.

    Attributes:
        container: id of the container.
    """

    container: str

    def run(self, *argv: str, timeout_s: float) -> None:
        """Run a program to its end; see `Tools.run`."""
        _log.debug("in container %s: %s", self.container[:12], shlex.join(argv))
        bounded = ["timeout", "-k", str(_KILL_AFTER_S), f"{timeout_s:g}", *argv]
        user = f"{os.geteuid()}:{os.getegid()}"
        doing, failed = f"run {argv[0]}", ToolFailedError
        with connect(timeout_s + _SPARE_S, doing=doing, refusal=failed) as client:
            created = client.api.exec_create(self.container, bounded, user=user)
            output = client.api.exec_start(created["Id"])
            code = client.api.exec_inspect(created["Id"])["ExitCode"]
        if code == 0:
            return
        details = f"$ {shlex.join(argv)}\n{output.decode(errors='replace').strip()[-_TAIL_CHARS:]}"
        if code in _TIMED_OUT:
            raise ToolTimeoutError(f"{argv[0]} did not end within {timeout_s:g} s.", details)
        raise ToolFailedError(
            f"{argv[0]} ended with exit code {code}.",
            details,
            "Check the free space of the state folder with `mesocosm doctor`.",
        )


@contextmanager
def hypervisor_tools(
    image: Image,
    writes: Path,
    *,
    reads: Collection[Path] = (),
    lifetime_s: float = 1800.0,
    has_network: bool = False,
    has_kvm: bool = False,
) -> Iterator[Tools]:
    """Run programs of the hypervisor image in a container that exists for a block.

    It removes itself after its lifetime, even if this process is killed.

    Args:
        image: the hypervisor image.
        writes: folder that programs may change.
        reads: folders that they may only read.
        lifetime_s: upper limit of the duration of the block.
        has_network: use this host's network; otherwise they have none.
        has_kvm: give them the device ``/dev/kvm``.

    Raises:
        EngineError: the engine cannot start the container.
        RequirementError: the engine does not answer.
    """
    with connect(doing="start the programs of QEMU") as client:
        container = client.containers.run(
            image.tag or "",
            entrypoint=["sleep"],
            command=[f"{lifetime_s:g}"],
            detach=True,
            remove=True,
            volumes=[f"{writes}:{writes}:rw", *(f"{path}:{path}:ro" for path in reads)],
            network_mode="host" if has_network else "none",
            devices=[f"{KVM_DEVICE}:{KVM_DEVICE}:rwm"] if has_kvm else [],
            cap_drop=["ALL"],
            cap_add=["DAC_OVERRIDE"],
            security_opt=["no-new-privileges:true"],
        )
    with removed_afterwards(str(container.id)):
        yield ContainerTools(str(container.id))


@contextmanager
def removed_afterwards(container: str) -> Iterator[None]:
    """Remove a container after a block, or when this process ends before, as on an interrupt.

    Args:
        container: its id.

    Raises:
        EngineError: the engine cannot remove it.
        RequirementError: the engine does not answer.
    """
    from docker.errors import APIError  # noqa: PLC0415

    def remove() -> None:
        atexit.unregister(remove)
        with connect(doing="remove a container") as client:
            try:
                client.api.remove_container(container, force=True)
            except APIError as exc:
                if exc.status_code not in _GONE:
                    raise

    # Threads of this process that are still in the block when it ends do not come to its end.
    atexit.register(remove)
    try:
        yield
    finally:
        remove()
