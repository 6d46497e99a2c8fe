"""Tests of the reference phone in its container, through the fleet's backend."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from typing import TYPE_CHECKING

import docker
import pytest

from appliance.bench.phone import bench_phone_figures
from appliance.cli.main import main
from appliance.verify.phone import PhoneUnderTest, verify_phone
from appliance.verify.phone_checks import CHECKS
from foundation import process
from foundation.errors import (
    ImageMissingError,
    LinkClosedError,
    LinkTimeoutError,
    RequirementError,
    ResetMismatchError,
    SnapshotMissingError,
)
from foundation.settings import Settings
from provisioning.phone.adb.server import AdbServer
from provisioning.phone.profile import EMULATOR
from provisioning.phone.reference.backend import PhoneBackend
from provisioning.phone.reference.engine import PhoneContainers
from provisioning.phone.reference.machine import TOKEN_FILE
from provisioning.protocols import READY
from tests.standins.phone import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from provisioning.phone.reference.machine import ReferencePhone

pytestmark = [pytest.mark.docker, pytest.mark.phone, pytest.mark.adb]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Return a separate appliance that reuses the built images."""
    state_dir = tmp_path_factory.mktemp("state")
    images_dir = Settings().images_dir
    if images_dir.is_dir():
        (state_dir / "images").symlink_to(images_dir)
    made = Settings(state_dir=state_dir)
    yield made
    # Stopped here, because tests also start it without a phone if there is no image.
    AdbServer(made).stop()


@pytest.fixture(scope="module")
def backend(settings: Settings) -> PhoneBackend:
    phones = PhoneBackend(settings)
    try:
        phones.image  # noqa: B018 - skips the test if missing
    except (ImageMissingError, RequirementError) as exc:
        pytest.skip(str(exc))
    return phones


@pytest.fixture(scope="module")
def made(backend: PhoneBackend) -> Iterator[ReferencePhone]:
    machine_handle = backend.make(lambda _message: None)
    machine = machine_handle.machine
    yield machine
    machine_handle.delete()


@pytest.fixture
def phone(made: ReferencePhone) -> ReferencePhone:
    made.start()
    made.snapshots.rewind(READY)
    return made


def test_phone_runs_without_rights_and_without_a_network(phone: ReferencePhone) -> None:
    output = phone.shell("id -u; grep -E 'CapBnd|NoNewPrivs' /proc/self/status; touch /x 2>&1").text
    assert output.splitlines()[0] == "2000"
    assert "CapBnd:\t0000000000000000" in output
    assert "NoNewPrivs:\t1" in output
    assert "Read-only file system" in output
    reach = "import socket; socket.create_connection(('192.0.2.1', 53), 1)"
    assert phone.shell(f'python3 -c "{reach}"').exit_code != 0


def test_exit_code_and_both_outputs_are_returned(phone: ReferencePhone) -> None:
    result = phone.shell("echo out; echo err >&2; exit 9")
    assert (result.exit_code, result.stdout, result.stderr) == (9, b"out\n", b"err\n")


def test_endless_shell_is_ended(phone: ReferencePhone) -> None:
    with pytest.raises(LinkTimeoutError):
        phone.shell("sleep 100", timeout_s=0.3)
    assert phone.shell("echo next").text == "next"


@pytest.mark.parametrize(
    "text",
    ["Grüße, 你好, 🙂", "50%s off", "'single' \"double\" $HOME `id` \\n ;", "-x", " lead", "a\tb"],
)
def test_any_text_arrives_unchanged(phone: ReferencePhone, text: str) -> None:
    phone.shell("am start -p com.google.android.contacts").require()
    field = next(
        element for element in phone.tree.elements() if "open_search_bar" in element.resource_id
    )
    phone.input.click(*field.bounds.center)
    phone.input.text(text)
    shown = next(
        element for element in phone.tree.elements() if "open_search_bar" in element.resource_id
    )
    assert shown.name == text.replace("\t", "")


def test_rewind_is_exact_and_ends_processes(phone: ReferencePhone) -> None:
    phone.link.call("ping")
    phone.shell("am start -p com.google.android.apps.tasks; settings put system x 1").require()
    phone.shell("setsid sleep 100 >/dev/null 2>&1 & echo x > /sdcard/x; mkdir -m 0 /sdcard/d")
    phone.files.put("/data/local/tmp/big", b"x" * 3_000_000)
    reports = [phone.snapshots.rewind(READY) for _ in range(5)]
    assert phone.files.stat("/sdcard/x") is None
    assert set(reports[0].phases_s) == {"load", "verify"}
    assert isinstance(phone.link.call("ping"), dict)


def test_difference_is_rejected(phone: ReferencePhone) -> None:
    digest = phone.folder.path / "snapshots" / f"{READY}.json"
    kept = digest.read_text()
    digest.write_text(kept.replace("accelerometer_rotation=0", "accelerometer_rotation=1"))
    try:
        with pytest.raises(ResetMismatchError, match="accelerometer_rotation"):
            phone.snapshots.rewind(READY)
    finally:
        digest.write_text(kept)


def test_missing_snapshot_is_reported(phone: ReferencePhone) -> None:
    with pytest.raises(SnapshotMissingError, match="nightly"):
        phone.snapshots.rewind("nightly")


def test_saved_state_survives_a_stop(phone: ReferencePhone) -> None:
    phone.shell("settings put global kept yes").require()
    phone.snapshots.save("kept")
    phone.stop()
    phone.stop()
    assert not phone.is_running()
    phone.start()
    phone.snapshots.rewind("kept")
    assert phone.shell("settings get global kept").text == "yes"
    phone.snapshots.delete_snapshot("kept")
    assert list(phone.snapshots.list_snapshots()) == [READY]


def test_another_process_can_attach(
    phone: ReferencePhone, backend: PhoneBackend, settings: Settings
) -> None:
    phones = [listed for listed in backend.list_phones() if listed.info == phone.info]
    assert len(phones) == 1
    assert phones[0].shell("echo mine").text == "mine"
    record = phone.folder.read()
    assert record is not None
    assert backend.fits(record)


def test_key_of_another_appliance_is_unauthorized(phone: ReferencePhone, tmp_path: Path) -> None:
    stranger = AdbServer(Settings(state_dir=tmp_path))
    try:
        with pytest.raises(LinkClosedError, match="unauthorized"):
            stranger.connect(phone.device.serial, timeout_s=10)
    finally:
        stranger.stop()


def test_lost_server_is_restarted(phone: ReferencePhone, settings: Settings) -> None:
    AdbServer(settings).stop()
    assert phone.shell("echo again").text == "again"


def test_benchmark_returns_every_row_without_a_failure(
    backend: PhoneBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("appliance.bench.phone._LEAST", 1)
    seen: list[str] = []
    rows = list(bench_phone_figures(backend, 1, seen.append))
    assert [row.errors for row in rows if row.failures] == []
    assert seen == [row.name for row in rows if row.samples_s]
    assert {"cold start", "rewind", "tap to settled frame", "screencap", "dump"} <= set(seen)
    assert 20 < rows[-1].extra["memory_mib"] < 150


def test_emulator_logic_controls_the_reference_phone_by_console_and_adb(
    settings: Settings, backend: PhoneBackend
) -> None:
    profile = dataclasses.replace(EMULATOR, image="phone", saved="", devices=(), memory_mib=384)
    machine_handle = PhoneBackend(settings, profile).make(lambda _message: None)
    machine = machine_handle.machine
    try:
        assert (machine.info.backend, machine.info.accelerator) == ("android-emulator", "kvm")
        machine.shell("settings put system x 1; echo x > /sdcard/x").require()
        machine.snapshots.rewind(READY)
        assert machine.shell("settings get system x").text == "null"
        assert machine.files.stat("/sdcard/x") is None
        assert machine.info.machine_id not in [
            listed.info.machine_id for listed in backend.list_phones()
        ]
    finally:
        machine_handle.delete()


def test_device_conformance_suite_passes(phone: ReferencePhone) -> None:
    subject = PhoneUnderTest(phone.device, phone.console)
    findings = {finding.name: finding for finding in verify_phone(subject, CHECKS)}
    assert len(findings) == len(CHECKS)
    assert {
        name: finding.message for name, finding in findings.items() if finding.state != "pass"
    } == {}


def test_command_verifies_a_phone_by_its_serial(
    phone: ReferencePhone,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("foundation.settings.get_settings", lambda: settings)
    monkeypatch.setattr("appliance.verify.phone_checks.CHECKS", CHECKS[:2])
    console = f"127.0.0.1:{phone.console_port}"
    args = ["machine", "verify", "--phone", phone.device.serial, "--json", "--console", console]
    assert main([*args, "--token-file", str(phone.folder.path / TOKEN_FILE)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"]
    assert [check["state"] for check in report["checks"]] == ["pass", "pass"]
    assert main([*args, "--token-file", "/none"]) == 2
    assert "--token-file" in capsys.readouterr().err


def test_command_admits_adb_tools(
    phone: ReferencePhone,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("foundation.settings.get_settings", lambda: settings)
    assert main(["machine", "adb", phone.info.machine_id, "--json"]) == 0
    env = json.loads(capsys.readouterr().out)
    assert process.run(["adb", "shell", "echo in"], timeout_s=10, env=env).text == "in"


def test_container_without_its_folder_is_a_stray(backend: PhoneBackend, settings: Settings) -> None:
    machine_handle = backend.make(lambda _message: None)
    machine = machine_handle.machine
    machine_id = machine.info.machine_id
    machine_handle.release()
    machine.folder.remove()
    assert backend.remove_strays() == [f"{machine_id}: its folder is gone"]
    containers = PhoneContainers(settings.state_dir)
    assert machine_id not in containers.names()
    containers.remove(machine_id)


def test_network_is_removed_with_the_last_phone(backend: PhoneBackend, tmp_path: Path) -> None:
    other = PhoneContainers(tmp_path)
    image = backend.image.tag
    assert image is not None
    with contextlib.closing(docker.from_env()) as client:
        before = {network.name for network in client.networks.list()}
        other.create("phone-network-test", image, {})
        assert len(client.networks.list()) == len(before) + 1
        other.remove("phone-network-test")
        other.remove("phone-network-test")
        assert {network.name for network in client.networks.list()} == before
        assert other.names() == []


def test_port_without_a_phone_cannot_be_connected(settings: Settings) -> None:
    with pytest.raises(LinkClosedError, match="cannot connect"):
        AdbServer(settings).connect(f"127.0.0.1:{free_port()}", timeout_s=1)


def test_starting_the_server_twice_keeps_the_first(settings: Settings) -> None:
    server = AdbServer(settings)
    server.start()
    server.start()
    assert server.is_running()
