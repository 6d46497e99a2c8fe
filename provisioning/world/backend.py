"""The fleet's backend of worlds."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from foundation.cancel import ended_by
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, SpecError
from foundation.files import digest_bytes, digest_json, digest_tree
from foundation.ids import new_machine_id
from foundation.logging import suppress_logged
from images.builder import find
from images.engine import require_engine
from provisioning.handle import MachineHandle
from provisioning.machine_folder import create_folder, find_folder
from provisioning.machine_state import MachineState
from provisioning.protocols import READY
from provisioning.resource import WORLD
from provisioning.world.authority import open_authority
from provisioning.world.containers import MEMORY_MIB, WorldContainers
from provisioning.world.persona.generator import DEFAULT_SEED, MAX_SEED
from provisioning.world.record import WorldRecord
from provisioning.world.resource import World
from provisioning.world.warming import warm

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.cancel import CancelToken
    from foundation.clock import Clock
    from foundation.settings import Settings
    from images.recipe import Image
    from provisioning.machine_folder import MachineFolder
    from provisioning.machine_record import MachineRecord
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)

_HERE = Path(__file__).parent
_FILLED_BY = ("persona", "state")
"""Folders whose code determines the state of a seed."""


class WorldBackend:
    """A `provisioning.fleet.backend.Backend` of worlds.

    Args:
        settings: location of machines and images.
        spec: names the seed of the persona.
        clock: clock used for times in records.

    Raises:
        SpecError: the seed is not one.
    """

    def __init__(
        self, settings: Settings, spec: ResourceSpec, *, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._settings = settings
        self._parameters = dict(spec.parameters)
        self._seed = _read_seed(spec)
        self._clock = clock
        self._containers = WorldContainers(settings.state_dir)
        self._image: Image | None = None
        self._known_stamp = ""

    @property
    def image(self) -> Image:
        """Return the image of worlds, which is looked up once.

        Raises:
            ImageError: the image is not built, or is corrupt.
        """
        if self._image is None:
            self._image = find(WORLD, self._settings)
        return self._image

    @property
    def machine_mib(self) -> int:
        """Return the memory that a world may use, MiB: its container's limit."""
        return MEMORY_MIB

    def reserved_mib(self, record: MachineRecord) -> int:
        """Return the memory that a world may use, MiB."""
        del record
        return MEMORY_MIB

    def make(
        self, say: Callable[[str], None], *, cancel: CancelToken | None = None
    ) -> MachineHandle[World]:
        """Make a world that is running, filled, verified, and saved as ``ready``.

        Args:
            say: called with one line of progress before slow steps.
            cancel: removes its container, which ends every wait for it.

        Raises:
            CancelledError: the call was cancelled.
            MesocosmError: the world cannot be made; nothing of it remains.
        """
        say(f"starting a world of seed {self._seed} from {self.image.label}")
        claim = create_folder(self._settings.devices_dir, new_machine_id(WORLD))
        folder = claim.folder
        world = World(
            self._settings, folder, folder.write(self._describe(folder)), clock=self._clock
        )
        try:
            with ended_by(cancel, partial(self.remove_by_id, folder.machine_id)):
                world.start()
                warm(world)
                world.snapshots.save(READY)
            folder.mark(MachineState.READY)
        except BaseException:
            world.delete()
            claim.release()
            raise
        return MachineHandle(world, claim)

    def attach(self, folder: MachineFolder, record: MachineRecord) -> World:
        """Return the object for an existing world, running or not."""
        return World(self._settings, folder, cast("WorldRecord", record), clock=self._clock)

    def fits(self, record: MachineRecord) -> bool:
        """Return whether a world has the current image, persona and certificate authority."""
        return record.stamp == self._stamp()

    def remove_by_id(self, machine_id: str) -> None:
        """Remove the container of a world; does nothing if there is none."""
        with suppress_logged(_log, f"remove {machine_id}", MesocosmError):
            self._containers.remove(machine_id)

    def remove_strays(self) -> list[str]:
        """Remove this appliance's containers that have no folder; return one line for each."""
        gone = []
        for machine_id in self._containers.names():
            if not find_folder(self._settings, machine_id).path.is_dir():
                self._containers.remove(machine_id)
                gone.append(f"{machine_id}: its folder is gone")
        return gone

    def require_host(self) -> None:
        """Check that the Docker engine answers.

        Raises:
            RequirementError: it does not answer.
        """
        require_engine()

    def _describe(self, folder: MachineFolder) -> WorldRecord:
        return WorldRecord(
            machine_id=folder.machine_id,
            kind=WORLD,
            image=self.image.label,
            image_digest=self.image.digest,
            accelerator="none",
            created_s=self._clock.now_s(),
            user="",
            home="",
            parameters=self._parameters,
            seed=self._seed,
            stamp=self._stamp(),
        )

    def _stamp(self) -> str:
        """Return the digest of everything a saved world depends on."""
        if not self._known_stamp:
            parts = {
                "image": self.image.digest,
                "seed": self._seed,
                "code": [digest_tree(_HERE / name) for name in _FILLED_BY],
                "authority": digest_bytes(open_authority(self._settings).certificate.encode()),
            }
            self._known_stamp = digest_json(parts)
        return self._known_stamp


def _read_seed(spec: ResourceSpec) -> int:
    seed = spec.parameters.get("seed", DEFAULT_SEED)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MAX_SEED:
        raise SpecError(f"{seed!r} is not the seed of a world.", f"Seeds are 0 to {MAX_SEED}.")
    return seed
