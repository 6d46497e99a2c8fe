from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from foundation.errors import MachineError, RequirementError, SpecError
from foundation.settings import Settings
from provisioning.desktop.remote import config
from provisioning.desktop.remote.backend import RemoteBackend, machine_id
from provisioning.desktop.remote.config import FILE, Side, read_remotes
from provisioning.machine_folder import MachineFolder
from tests.standins.records import desktop_record

if TYPE_CHECKING:
    from pathlib import Path

ENTRY: dict[str, Any] = {
    "name": "lab-1",
    "host": "192.0.2.7",
    "host_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA me@there",
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path)


def write_entries(settings: Settings, *entries: dict[str, Any]) -> None:
    (settings.state_dir / FILE).write_text(yaml.safe_dump({"machines": list(entries)}))


def test_missing_file_lists_no_machines(settings: Settings) -> None:
    assert read_remotes(settings) == ()
    with pytest.raises(RequirementError, match="lists none"):
        RemoteBackend(settings).make(lambda _message: None)


def test_documented_example_is_valid(settings: Settings) -> None:
    documented = (inspect.getdoc(config) or "").partition("Example::")[2]
    text = textwrap.dedent(documented).replace("AAAAC3Nza...", "AAAAC3NzaC1lZDI1NTE5AAAAIA")
    (settings.state_dir / FILE).write_text(text)
    (remote,) = read_remotes(settings)
    assert remote.reset is not None
    assert (remote.name, remote.reset.on) == ("lab-1", Side.HOST)


def test_omitted_fields_have_defaults(settings: Settings) -> None:
    write_entries(settings, {**ENTRY, "reset": {"command": ["/usr/local/bin/reset"]}})
    (remote,) = read_remotes(settings)
    target = remote.target(settings)
    assert (target.port, target.user) == (22, "root")
    assert target.key_file == settings.keys_dir / "ssh_ed25519"
    assert target.host_key == "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA"
    assert remote.reset is not None
    assert remote.reset.on is Side.MACHINE


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"host_key": "nonsense"}, "machines.0.host_key"),
        ({"port": 0}, "machines.0.port"),
        ({"name": "../up"}, "machines.0.name"),
        ({"reset": {"command": []}}, "machines.0.reset.command"),
        ({"reset": {"command": ["x"], "on": "moon"}}, "machines.0.reset.on"),
        ({"pasword": "x"}, "machines.0.pasword"),
    ],
)
def test_wrong_entry_is_reported(settings: Settings, change: dict[str, Any], named: str) -> None:
    write_entries(settings, {**ENTRY, **change})
    with pytest.raises(SpecError, match=named):
        read_remotes(settings)


@pytest.mark.parametrize("text", ["machines: [", "machines: 3", "[]", "other: 1", "\x00"])
def test_invalid_file_is_reported(settings: Settings, text: str) -> None:
    (settings.state_dir / FILE).write_text(text)
    if text == "[]":
        assert read_remotes(settings) == ()
        return
    with pytest.raises(SpecError, match=FILE):
        read_remotes(settings)


def test_duplicate_machine_names_are_rejected(settings: Settings) -> None:
    write_entries(settings, ENTRY, {**ENTRY, "host": "192.0.2.8"})
    with pytest.raises(SpecError, match="several machines are named lab-1"):
        read_remotes(settings)


def test_machine_fits_until_its_entry_changes_or_is_removed(settings: Settings) -> None:
    write_entries(settings, ENTRY)
    (remote,) = read_remotes(settings)
    backend = RemoteBackend(settings)
    from provisioning.desktop.remote.backend import _stamp

    record = desktop_record(machine_id(remote), "remote", stamp=_stamp(remote))
    assert backend.fits(record)
    write_entries(settings, {**ENTRY, "host": "192.0.2.8"})
    assert not backend.fits(record)
    write_entries(settings)
    assert not backend.fits(record)
    with pytest.raises(MachineError, match="no longer listed"):
        backend.attach(MachineFolder(settings.machines_dir / record.machine_id), record)
