from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import MachineError, SnapshotError
from foundation.settings import Settings
from provisioning.fleet.backends import FixedBackends
from provisioning.fleet.ledger import FILE, Ledger
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import MachineFolder, create_folder, iter_folders
from provisioning.machine_state import MachineState
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.records import desktop_record
from tests.unit.provisioning.fleet.test_local import FakeBackend

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.handle import HostMachine, MachineHandle
    from provisioning.machine_record import MachineRecord

HUGE_MIB = 1 << 40


class KeepingFake(FakeBackend):
    """Starts numbered kept machines, except those of an image that is gone."""

    kept_mib = 1

    def reserved_mib(self, record: MachineRecord) -> int:
        return self.kept_mib

    def unkeepable_reason(self) -> str:
        return ""

    def start_kept(self, folder: Path, record: MachineRecord) -> MachineHandle[HostMachine]:
        if record.image == "gone":
            raise MachineError("The image is gone.")
        self.made += 1
        claim = create_folder(self.settings.machines_dir, f"desktop-kept-{self.made}")
        self.write(claim.folder, MachineState.LEASED, is_fork=True)
        return self.handle(claim)


@pytest.fixture
def backend(tmp_path: Path) -> KeepingFake:
    return KeepingFake(Settings(state_dir=tmp_path))


@pytest.fixture
def fleet(backend: KeepingFake) -> LocalFleet:
    return LocalFleet(backend.settings, FixedBackends({DESKTOP: backend}))


def kept(folder: Path, image: str = "desktop:test") -> Path:
    folder.mkdir()
    record = desktop_record("desktop-then", "fake").model_copy(update={"image": image})
    MachineFolder(folder).write(record)
    return folder


def test_copies_are_leased_with_their_memory_and_end_with_the_lease(
    fleet: LocalFleet, backend: KeepingFake, tmp_path: Path
) -> None:
    ledger = Ledger(backend.settings.state_dir / FILE)
    folders = {"left": kept(tmp_path / "a"), "right": kept(tmp_path / "b")}
    with fleet.start_kept(folders) as lease:
        assert set(lease.environment.machines) == {"left", "right"}
        assert {report.path for report in lease.environment.resets.values()} == {"kept"}
        assert [row.reserved_mib for row in ledger.machines(lease.lease_id)] == [1, 1]
    fleet.wait_for_jobs()
    assert sorted(backend.deleted) == ["desktop-kept-1", "desktop-kept-2"]
    assert ledger.machines() == []
    assert list(iter_folders(backend.settings)) == []
    assert (tmp_path / "a" / "meta.json").is_file()


def test_no_copy_is_left_if_one_cannot_be_started(
    fleet: LocalFleet, backend: KeepingFake, tmp_path: Path
) -> None:
    folders = {"left": kept(tmp_path / "a"), "right": kept(tmp_path / "b", "gone")}
    with pytest.raises(MachineError, match="The image is gone"):
        fleet.start_kept(folders)
    with pytest.raises(SnapshotError, match="no kept machine"):
        fleet.start_kept({"left": tmp_path / "nowhere"})
    backend.kept_mib = HUGE_MIB
    with pytest.raises(MachineError, match="not enough memory"):
        fleet.start_kept({"left": tmp_path / "a"})
    ledger = Ledger(backend.settings.state_dir / FILE)
    assert (ledger.machines(), ledger.leases()) == ([], [])
    assert backend.deleted == ["desktop-kept-1"]


def test_backend_that_cannot_keep_states_is_named(backend: KeepingFake) -> None:
    plain = FakeBackend(backend.settings)
    fleet = LocalFleet(backend.settings, FixedBackends({DESKTOP: plain}))
    assert (
        fleet.unkeepable_reason(ResourceSpec(DESKTOP))
        == "machines of the kind desktop cannot be saved here"
    )
    assert (
        LocalFleet(backend.settings, FixedBackends({DESKTOP: backend})).unkeepable_reason(
            ResourceSpec(DESKTOP)
        )
        == ""
    )
