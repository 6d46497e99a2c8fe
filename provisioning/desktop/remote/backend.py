"""The fleet's backend of the remote desktops in ``remotes.yaml``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MachineBusyError, MachineError, MesocosmError, RequirementError
from foundation.files import digest_json
from foundation.logging import suppress_logged
from provisioning.desktop.remote.config import FILE, read_remotes
from provisioning.desktop.remote.machine import RemoteDesktop
from provisioning.desktop.remote.record import RemoteRecord
from provisioning.handle import MachineHandle
from provisioning.links.zipapp import build_probe
from provisioning.machine_folder import MachineClaim, MachineFolder
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP, ResourceSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.cancel import CancelToken
    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.desktop.remote.config import Remote
    from provisioning.machine_record import MachineRecord

_log = logging.getLogger(__name__)

_PREFIX = f"{DESKTOP}-remote-"
_DEFAULT = ResourceSpec(DESKTOP)


class RemoteBackend:
    """A `provisioning.fleet.backend.Backend` that adds the machines in ``remotes.yaml`` to the fleet.

    Args:
        settings: location of that file, the key and the machines' folders.
        spec: ignored: the file says what each machine is.
        clock: clock used for times in records.
    """

    def __init__(
        self, settings: Settings, spec: ResourceSpec = _DEFAULT, *, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        del spec
        self._settings = settings
        self._clock = clock

    @property
    def machine_mib(self) -> int:
        """Return 0: remote machines use no memory of this host."""
        return 0

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return 0: remote machines use no memory of this host."""
        del record
        return 0

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[RemoteDesktop]:
        """Add a machine that is not in the fleet yet: reset it and record its initial state.

        Args:
            say: called with one line of progress before slow steps.
            cancel: ignored: a reset in progress on another owner's machine is always completed.

        Raises:
            RequirementError: the file lists no machine.
            MachineBusyError: all listed machines are in the fleet already, or in use.
            MesocosmError: the machine cannot be used; nothing of it is kept.
        """
        del cancel
        remotes = read_remotes(self._settings)
        if not remotes:
            raise RequirementError(
                "No remote desktop is configured.",
                details=f"{self._settings.state_dir / FILE} lists none.",
                resolution="Add one to the file; docs/machines.md describes its format.",
            )
        for remote in remotes:
            folder = MachineFolder(self._settings.devices_dir / machine_id(remote))
            if folder.read() is not None:
                continue
            folder.path.mkdir(parents=True, exist_ok=True)
            if claim := folder.claim():
                return self._take(remote, claim, say)
        raise MachineBusyError(
            "Every remote desktop is in use.",
            details=", ".join(remote.name for remote in remotes),
            resolution="Wait for one, or add more machines to remotes.yaml.",
        )

    def attach(self, folder: MachineFolder, record: MachineRecord) -> RemoteDesktop:
        """Return the object for a machine of the fleet.

        Raises:
            MachineError: the file no longer lists it.
            SpecError: the file is invalid.
        """
        remote = self._find(record.machine_id)
        if remote is None:
            raise MachineError(
                f"{record.machine_id} is no longer listed in {self._settings.state_dir / FILE}.",
                resolution="Add it again, or delete it with `mesocosm machine sweep`.",
            )
        return RemoteDesktop(self._settings, folder, record, remote, clock=self._clock)

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a machine's entry in the file and the probe are unchanged."""
        remote = self._find(record.machine_id)
        return remote is not None and record.stamp == _stamp(remote)

    def remove_by_id(self, machine_id: str) -> None:
        """Do nothing: this appliance must not end remote machines."""

    def remove_strays(self) -> list[str]:
        """Return an empty list: nothing runs on this host."""
        return []

    def require_host(self) -> None:
        """Do nothing: each machine is its own host."""

    def _take(
        self, remote: Remote, claim: MachineClaim, say: Callable[[str], None]
    ) -> MachineHandle[RemoteDesktop]:
        folder = claim.folder
        say(f"resetting {remote.name} and recording its initial state")
        record = RemoteRecord(
            machine_id=folder.machine_id,
            kind=DESKTOP,
            image=f"remote:{remote.name}",
            image_digest=digest_json(remote.model_dump(mode="json")),
            accelerator="none",
            created_s=self._clock.now_s(),
            user=remote.user,
            home="",
            stamp=_stamp(remote),
            remote=remote.name,
        )
        machine = RemoteDesktop(self._settings, folder, record, remote, clock=self._clock)
        try:
            machine.deploy()
            queried = {"image": f"remote:{machine.describe()}", "home": machine.home_of_user()}
            folder.write(record.model_copy(update=queried))
            machine.learn()
            folder.mark(MachineState.READY)
            machine.release()
            stored_record = folder.read()
            return MachineHandle(
                self.attach(folder, record if stored_record is None else stored_record), claim
            )
        except BaseException:
            with suppress_logged(_log, f"clean {folder.machine_id}", MesocosmError):
                machine.delete()
            folder.remove()
            claim.release()
            raise

    def _find(self, name: str) -> Remote | None:
        return next(
            (remote for remote in read_remotes(self._settings) if machine_id(remote) == name), None
        )


def machine_id(remote: Remote) -> str:
    """Return the id of a remote machine, such as ``desktop-remote-lab-1``."""
    return f"{_PREFIX}{remote.name}"


def _stamp(remote: Remote) -> str:
    """Return a digest of everything a recorded initial state depends on."""
    return digest_json({"remote": remote.model_dump(mode="json"), "probe": build_probe().digest})
