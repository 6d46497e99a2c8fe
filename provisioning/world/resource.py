"""A world as a resource of a lease: a container with servers, filled with a persona."""

from __future__ import annotations

import logging
import secrets
import signal
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import LinkError, MachineError, MachineStartError, MesocosmError
from foundation.files import write_atomic
from foundation.logging import suppress_logged
from images.builder import find
from provisioning.machine_state import MachineState
from provisioning.protocols import READY, End, EndCause, ResetReport
from provisioning.world.authority import open_authority
from provisioning.world.containers import GUEST_PORTS, WorldContainers
from provisioning.world.control import WorldControl
from provisioning.world.persona.persona import persona
from provisioning.world.persona.words.sites import HOSTS
from provisioning.world.snapshots import WorldSnapshots, fill_verified
from provisioning.world.state.archive import digest_archive
from provisioning.world.state.filling import fill_state
from provisioning.world.state.summary import summarize_state

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.machine_folder import MachineFolder
    from provisioning.protocols import Endpoints, MachineInfo, StateSummary
    from provisioning.world.persona.persona import Persona
    from provisioning.world.record import WorldRecord

_log = logging.getLogger(__name__)

_TOKEN_FILE = "control-token"  # noqa: S105 - the name of a file
_SNAPSHOTS = "snapshots"
_START_TIMEOUT_S = 60.0
_EVERY_S = 0.02
_HEALTH_TIMEOUT_S = 5.0
_FULL_BYTES = 1 << 20
_KILLS = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT})
"""Signals that only somebody outside sends, unless memory is used up."""


class World:
    """A `provisioning.protocols.Resource` that machines of its lease reach.

    Its state is in memory: a world that was stopped starts at its snapshot ``ready``.

    Args:
        settings: location of the images and of the certificate authority.
        folder: its folder; has the control's token and the snapshots.
        record: its record.
        clock: clock used for waits and timing.
    """

    def __init__(
        self,
        settings: Settings,
        folder: MachineFolder,
        record: WorldRecord,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._record = record
        self._clock = clock
        self._containers = WorldContainers(settings.state_dir)
        self._address: str | None = None

    @property
    def info(self) -> MachineInfo:
        """Return its description."""
        return self._record.info

    @property
    def folder(self) -> MachineFolder:
        """Return its folder on the host."""
        return self._folder

    @property
    def power(self) -> World:
        """Return its power control."""
        return self

    @property
    def seed(self) -> int:
        """Return the seed of its persona."""
        return self._record.seed

    @property
    def persona(self) -> Persona:
        """Return the persona that fills it."""
        return persona(self._record.seed)

    @property
    def endpoints(self) -> Endpoints:
        """Return the address of each server by the port that guests see.

        Raises:
            MachineError: the world is not running.
        """
        address = self._find_address()
        return {guest: (address, port) for guest, port in GUEST_PORTS.items()}

    @property
    def host_names(self) -> tuple[str, ...]:
        """Return the names that guests look up, besides that of its role."""
        return HOSTS

    @property
    def control(self) -> WorldControl:
        """Return its control, which guests cannot reach.

        Raises:
            MachineError: the world is not running, or its token is missing.
        """
        try:
            token = (self._folder.path / _TOKEN_FILE).read_text()
        except OSError as exc:
            message = f"The token of {self.info.machine_id} is missing."
            raise MachineError(message, str(exc)) from exc
        return WorldControl(self._find_address(), token, self.info.machine_id)

    @property
    def snapshots(self) -> WorldSnapshots:
        """Return its snapshots."""
        folder = self._folder.path / _SNAPSHOTS
        return WorldSnapshots(self.info.machine_id, folder, self.control, self._clock)

    def start(self) -> None:
        """Start the world at its snapshot ``ready``; without one, filled with its persona.

        Raises:
            MachineStartError: it did not start in time.
            ResetMismatchError: it differs from what it was filled with.
            ImageError: its image, or that of the hypervisor, is not built.
        """
        machine_id = self.info.machine_id
        self._leave_standby()
        if self.is_running():
            return
        self._containers.remove(machine_id)
        self.release()
        token = secrets.token_hex(16)
        write_atomic(self._folder.path / _TOKEN_FILE, token, mode=0o600)
        environment = {
            "MESOCOSM_WORLD_TOKEN": token,
            "MESOCOSM_WORLD_CERTIFICATE": open_authority(self._settings).issue(HOSTS),
        }
        fence_image = find("hypervisor", self._settings).tag or ""
        image = find("world", self._settings).tag or ""
        self._containers.start(machine_id, image, environment, fence_image)
        if (
            wait_until(
                self._answers, timeout_s=_START_TIMEOUT_S, every_s=_EVERY_S, clock=self._clock
            )
            is None
        ):
            logs = self._containers.logs(machine_id)
            raise MachineStartError(f"The world {machine_id} did not start.", details=logs)
        if (self._folder.path / _SNAPSHOTS).is_dir():
            self.snapshots.rewind(READY)
        else:
            archive = fill_state(self.persona)
            fill_verified(machine_id, self.control, archive, digest_archive(archive))

    def pause(self) -> None:
        """Reset it and freeze it, so that the next lease need only compare it.

        If that fails, the next lease resets it.
        """
        with suppress_logged(_log, f"freeze {self.info.machine_id}", MesocosmError):
            self.snapshots.rewind(READY)
            self._containers.pause(self.info.machine_id)
            self._standby.touch()

    def reset_to(self, snapshot: str) -> ResetReport:
        """Reset it; one that stands by at this snapshot continues, if its state is still the same.

        Raises:
            MesocosmError: the reset failed; the world must not be used.
        """
        start_s = self._clock.monotonic_s()
        if self._leave_standby() and snapshot == READY:
            with suppress_logged(_log, f"compare {self.info.machine_id}", MesocosmError):
                if self.is_running() and not self.snapshots.differences(READY):
                    return ResetReport("standby", self._clock.monotonic_s() - start_s)
        self.start()
        return self.snapshots.rewind(snapshot)

    def stop(self) -> None:
        """Remove its container; snapshots stay."""
        self._leave_standby()
        self.release()
        self._containers.remove(self.info.machine_id)
        self._folder.mark(MachineState.STOPPED)

    def is_running(self) -> bool:
        """Return whether it has a state and all its servers run."""
        with suppress_logged(_log, f"look at {self.info.machine_id}", MesocosmError):
            health = self.control.health(_HEALTH_TIMEOUT_S)
            return health.is_filled and not health.ended
        return False

    def ended_by(self) -> End | None:
        """Return what ended a server; None if all run.

        Nobody inside can send signals: what a machine sent ended a server that crashed or used all
        memory; a killed server, and a container that is gone, were ended from outside.
        """
        try:
            health = self.control.health(_HEALTH_TIMEOUT_S)
        except (LinkError, MachineError) as exc:
            return End(EndCause.OUTSIDE, f"it does not answer: {exc.brief}")
        for name, code in health.ended.items():
            is_outside = -code in _KILLS and not health.oom_kills
            cause = EndCause.OUTSIDE if is_outside else EndCause.GUEST
            memory = ", out of memory" if health.oom_kills else ""
            return End(cause, f"{name} ended with {code}{memory}")
        return None

    def find_obstruction(self) -> str:
        """Return whether machines have filled its disk, in one line; empty if they have not.

        Raises:
            MachineError: it is not running.
            LinkError: it does not answer.
        """
        free = self.control.health(_HEALTH_TIMEOUT_S).free_bytes
        return "its disk is full" if free < _FULL_BYTES else ""

    def summarize(self) -> StateSummary:
        """Return fingerprints of its mails, events, contacts, files and orders, for side effects.

        Raises:
            MachineError: the world is not running, or its state cannot be read.
            LinkError: it does not answer.
        """
        return summarize_state(self.control.digest())

    def memory_bytes(self) -> int:
        """Return the memory that it uses, with its state, in bytes.

        Raises:
            MachineError: it is not running.
        """
        return self._containers.memory_bytes(self.info.machine_id)

    def release(self) -> None:
        """Forget its address; the world keeps running."""
        self._address = None

    def delete(self) -> None:
        """Stop it and remove all its files on the host; may be called more than once."""
        with suppress_logged(_log, f"remove {self.info.machine_id}", MesocosmError):
            self._containers.remove(self.info.machine_id)
        self._folder.remove()

    @property
    def _standby(self) -> Path:
        """Return the file that exists while it is frozen at its snapshot ``ready``."""
        return self._folder.path / "standby"

    def _leave_standby(self) -> bool:
        """Let it continue if it is frozen; return whether it was frozen at ``ready``."""
        self._containers.unpause(self.info.machine_id)
        is_ready = self._standby.exists()
        self._standby.unlink(missing_ok=True)
        return is_ready

    def _answers(self) -> bool:
        try:
            self.control.health(_HEALTH_TIMEOUT_S)
        except (LinkError, MachineError):
            return False
        return True

    def _find_address(self) -> str:
        if self._address is None:
            self._address = self._containers.address(self.info.machine_id)
        if self._address is None:
            raise MachineError(
                f"The world {self.info.machine_id} is not running.",
                resolution="Start it, or remove it: another one is then made.",
            )
        return self._address
