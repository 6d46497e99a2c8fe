"""Which machine a command line selects, and the error if there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.cli.machine_lookup import find_free_machine, find_machine
from appliance.cli.main import main
from foundation.errors import MachineBusyError, MachineError, UnknownNameError
from foundation.process import run
from foundation.settings import get_settings
from provisioning.fake.record import FakeRecord
from provisioning.machine_folder import MachineClaim, create_folder
from provisioning.machine_state import MachineState
from provisioning.phone.reference.record import PhoneRecord
from provisioning.resource import DESKTOP, PHONE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def add(machine_id: str, state: MachineState, kind: str = DESKTOP) -> MachineClaim:
    claim = create_folder(get_settings().machines_dir, machine_id)
    claim.folder.write(
        FakeRecord(
            machine_id=machine_id, kind=kind, image="fake", image_digest="0", accelerator="none",
            state=state,
        )
    )  # fmt: skip
    return claim


def test_kind_selects_its_free_machine() -> None:
    add("phone-1", MachineState.READY, PHONE).release()
    assert find_machine("phone")[0].machine_id == "phone-1"
    taken = add("desktop-1", MachineState.LEASED)
    add("desktop-2", MachineState.WAITING).release()
    free = add("desktop-3", MachineState.READY)
    with pytest.raises(MachineBusyError, match="No desktop is ready and free") as caught:
        find_free_machine("desktop")
    assert "desktop-2 (desktop, waiting)" in caught.value.details
    free.release()
    assert find_free_machine("desktop")[0].machine_id == "desktop-3"
    assert find_free_machine("desktop-1")[0].machine_id == "desktop-1"
    with pytest.raises(UnknownNameError, match="There are 3 machines of the kind desktop"):
        find_machine("desktop")
    taken.release()


def test_eval_of_the_variables_of_an_ambiguous_phone_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    add("phone-1", MachineState.READY, PHONE).release()
    add("phone-2", MachineState.READY, PHONE).release()
    assert main(["machine", "adb", "phone"]) == 2
    out, err = capsys.readouterr()
    assert "There are 2 machines of the kind phone" in err
    script = f'ANDROID_SERIAL=old; eval "{out}" && echo went on; echo "${{ANDROID_SERIAL-none}}"'
    assert run(["/bin/sh", "-c", script]).text == "none"
    assert main(["machine", "adb", "phone", "--json"]) == 2
    assert "unset" not in capsys.readouterr().out


def test_kind_without_machines_is_reported() -> None:
    add("desktop-1", MachineState.READY).release()
    with pytest.raises(MachineError, match="There is no phone on this host") as caught:
        find_free_machine("phone")
    assert "desktop-1 (desktop, ready)" in caught.value.details
    with pytest.raises(UnknownNameError, match="no machine called 'desktop-2'"):
        find_free_machine("desktop-2")


@pytest.mark.libvirt
def test_unsupported_connection_is_rejected(
    capsys: pytest.CaptureFixture[str],
) -> None:
    add("desktop-1", MachineState.READY).release()
    phone = create_folder(get_settings().devices_dir, "phone-1")
    phone.folder.write(
        PhoneRecord(
            machine_id="phone-1", kind=PHONE, backend="reference-phone", image="phone",
            image_digest="0", accelerator="none", state=MachineState.READY, user="", home="",
        )
    )  # fmt: skip
    phone.release()
    assert main(["machine", "shell", "phone-1"]) == 2
    assert "phone-1 has no SSH server." in capsys.readouterr().err
    assert main(["machine", "adb", "desktop-1"]) == 2
    assert "desktop-1 is a desktop, which adb cannot use." in capsys.readouterr().err
