"""The image of Google's emulator, built and run with a stand-in as SDK: real containers, real adb."""

from __future__ import annotations

import contextlib
import json
import shutil
from typing import TYPE_CHECKING

import docker
import pytest

from appliance.bringup.phone_image import build_phone_image, phone_backend, remove_phone_image
from appliance.cli.main import main
from foundation.settings import REPOSITORY, Settings
from images.android.recipe import SAVED
from images.builder import Builder
from images.log import ignore_progress
from provisioning.phone.adb.server import AdbServer
from provisioning.protocols import READY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from images.recipe import Image

pytestmark = [pytest.mark.docker, pytest.mark.phone, pytest.mark.adb]

EXTENSION = "tests.standins.emulator.sdk:TABLE"
_TIMEOUT_S = 60


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Return an appliance of its own, which has the images that the emulator's needs."""
    state_dir = tmp_path_factory.mktemp("state")
    (state_dir / "images").mkdir()
    for name in ("base", "hypervisor"):
        if not (Settings().images_dir / name).is_dir():
            pytest.skip(f"needs the image {name}")
        (state_dir / "images" / name).symlink_to(Settings().images_dir / name)
    made = Settings(
        state_dir=state_dir,
        phone="emulator",
        extensions=EXTENSION,
        accept_android_sdk_licence=True,
    )
    yield made
    AdbServer(made).stop()


@pytest.fixture(scope="module")
def image(settings: Settings) -> Image:
    return Builder(settings).ensure("android")


def test_saved_device_is_sparse_and_beside_the_manifest(image: Image) -> None:
    archive = image.file(SAVED) / "saved.tar"
    # It contains a disk of 512 MiB, of which nothing was written.
    assert archive.stat().st_size < 64 << 20


@pytest.mark.parametrize(
    ("script", "fault", "cause"),
    [
        ("prepare.sh", "dies-at-boot", "The emulator ended before Android had booted"),
        ("prepare.sh", "refuses-save", "The console refused 'avd snapshot save mesocosm': KO"),
        ("prepare.sh", "forgets-save", "The saved snapshot is not listed"),
        ("entrypoint.sh", "dies-at-boot", "The emulator ended before Android answered"),
        ("entrypoint.sh", "starts-cold", "did not resume its snapshot: it started cold"),
    ],
)
def test_fault_ends_the_container_with_its_cause(
    image: Image, script: str, fault: str, cause: str, tmp_path: Path
) -> None:
    tmp_path.chmod(0o777)
    saved = image.file(SAVED) if script == "entrypoint.sh" else tmp_path
    with contextlib.closing(docker.from_env()) as client:
        container = client.containers.create(
            image.tag or "",
            entrypoint=["/usr/bin/tini", "--", "/bin/sh", f"/opt/mesocosm/{script}"],
            environment={
                "STANDIN_FAULT": fault,
                "MESOCOSM_ADB_KEYS": "QAAA key",
                "MESOCOSM_CONSOLE_TOKEN": "token",
            },
            volumes=["/data", f"{saved}:/saved"],
            cap_drop=["ALL"],
            network_mode="none",
        )
        try:
            container.start()
            assert container.wait(timeout=_TIMEOUT_S)["StatusCode"] != 0
            assert cause in container.logs().decode()
        finally:
            container.remove(force=True, v=True)
    assert list(tmp_path.iterdir()) == []


def test_image_of_a_phone_is_built_and_its_phones_have_its_layers(
    image: Image, settings: Settings, tmp_path: Path
) -> None:
    example = REPOSITORY / "examples/images/pocket"
    shutil.copytree(example, tmp_path / "pocket")
    built = build_phone_image(tmp_path / "pocket", settings, ignore_progress)
    assert built.digest == built.image.digest(image.digest)
    # The emulator's state cannot leave its container: each phone gets the layers when it is made.
    assert built.image.state(image.digest, "android-emulator") is None
    backend = phone_backend(settings).with_image(built.image)
    handle = backend.make(print)
    try:
        phone = handle.machine
        assert phone.info.machine_id != built.machine_id
        assert phone.info.image_digest == built.digest
        assert phone.files.get("/sdcard/Download/list.txt") == b"bread\nmilk\nstamps\n"
        assert phone.run(["settings", "get", "system", "screen_brightness"]).text.strip() == "40"
        listed = ["content", "query", "--uri", "content://com.android.contacts/contacts"]
        phone.run(["settings", "put", "system", "screen_brightness", "9"])
        phone.snapshots.rewind(READY)
        assert "Rosa Lind" in phone.run(listed).text
        assert phone.run(["settings", "get", "system", "screen_brightness"]).text.strip() == "40"
    finally:
        handle.delete()
        remove_phone_image("pocket", settings)


def test_command_verifies_the_emulator(
    image: Image,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    assert image.tag
    monkeypatch.setattr("foundation.settings.get_settings", lambda: settings)
    monkeypatch.setattr("provisioning.registry.get_settings", lambda: settings)
    report_file = tmp_path / "report.txt"
    assert main(["verify", "emulator", "--quick", "--json", "--output", str(report_file)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {check["state"] for check in report["checks"]} == {"pass"}
    assert {"start", "conformance", "save", "rewind", "clock", "picture", "stop"} <= {
        check["name"] for check in report["checks"]
    }
    assert "0 failed" in report_file.read_text()
