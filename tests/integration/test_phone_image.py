"""The example image of a phone on the real appliance: built, leased twice, rewound, beside the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bringup.phone_image import build_phone_image, remove_phone_image
from foundation.errors import ActionError, SpecError, UnknownNameError
from foundation.files import digest_file
from foundation.settings import REPOSITORY, get_settings
from images.custom.phone import find_phone_image, phone_image_names, phone_images_dir
from images.log import ignore_progress
from provisioning.fleet.local import LocalFleet
from provisioning.machine_folder import iter_folders
from provisioning.resource import PHONE, ResourceSpec
from tests.standins.appliance import NEEDS_APPLIANCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from appliance.bringup.phone_image import BuiltPhone
    from provisioning.protocols import Machine

pytestmark = [
    pytest.mark.phone,
    pytest.mark.docker,
    pytest.mark.adb,
    pytest.mark.timeout(300),
    NEEDS_APPLIANCE,
]

NAME = "test-pocket"
EXAMPLE = REPOSITORY / "examples/images/pocket"
OWN, DEFAULT = ResourceSpec(PHONE, NAME), ResourceSpec(PHONE)


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "image.yaml").write_text(f"schema_version: 1\nextends: phone\n{text}")
    return folder


def copy_example(folder: Path) -> Path:
    text = (EXAMPLE / "image.yaml").read_text().replace("name: pocket", f"name: {NAME}")
    (folder / "documents").mkdir(parents=True)
    (folder / "image.yaml").write_text(text)
    (folder / "documents/list.txt").write_bytes((EXAMPLE / "documents/list.txt").read_bytes())
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuiltPhone]:
    folder = copy_example(tmp_path_factory.mktemp("images") / "pocket")
    yield build_phone_image(folder, get_settings(), ignore_progress, force=True)
    remove_phone_image(NAME, get_settings())
    assert NAME not in phone_image_names(get_settings())
    images = [record.image for f in iter_folders(get_settings()) if (record := f.read())]
    assert f"{PHONE}:{NAME}" not in images


def content(machine: Machine) -> dict[str, object]:
    def read(*argv: str) -> str:
        return machine.run(argv, timeout_s=20).text

    contacts = read("content", "query", "--uri", "content://com.android.contacts/contacts")
    return {
        "contacts": sorted(name for name in ("Rosa Lind", "Emil Hart") if name in contacts),
        "message": "The list is in Download." in read("content", "query", "--uri", "content://sms"),
        "brightness": read("settings", "get", "system", "screen_brightness").strip(),
        "file": read("sh", "-c", "cat /sdcard/Download/list.txt 2>/dev/null || true").split(),
    }


EXPECTED = {
    "contacts": ["Emil Hart", "Rosa Lind"],
    "message": True,
    "brightness": "40",
    "file": ["bread", "milk", "stamps"],
}


def test_two_leases_have_it_a_rewind_keeps_it_and_the_default_phone_lacks_it(
    built: BuiltPhone,
) -> None:
    roles = {"one": OWN, "two": OWN, "default": DEFAULT}
    with LocalFleet(get_settings(), say=print).acquire(roles) as lease:
        one, two, default = (lease.environment.machines[role] for role in roles)
        assert one.info.machine_id != two.info.machine_id
        for own in (one, two):
            assert content(own) == EXPECTED
            assert own.info.image == f"{PHONE}:{NAME}"
            assert own.info.image_digest == built.digest
        before = content(default)
        assert (before["contacts"], before["message"], before["file"]) == ([], False, [])
        assert default.info.image_digest != built.digest
        one.run(["rm", "/sdcard/Download/list.txt"])
        one.run(["settings", "put", "system", "screen_brightness", "200"])
        assert content(one) != EXPECTED
        lease.reset()
        assert content(lease.environment.machines["one"]) == EXPECTED
        assert content(lease.environment.machines["default"]) == before


def test_it_is_current_and_a_second_lease_uses_the_same_phones(
    built: BuiltPhone, tmp_path: Path
) -> None:
    again = build_phone_image(copy_example(tmp_path / "pocket"), get_settings(), ignore_progress)
    assert (again.digest, again.machine_id) == (built.digest, "")
    image = find_phone_image(NAME, get_settings())
    assert image is not None
    assert image.product is not None
    assert image.state(image.product.base, "reference-phone") is not None


def test_an_apk_is_refused_with_file_and_line_before_a_phone_is_made(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "apk",
        "name: test-apk\nsteps:\n  - apks: [{file: a.apk, sha256: " + "0" * 64 + "}]\n",
    )
    (folder / "a.apk").write_bytes(b"PK")
    with pytest.raises(SpecError, match=r"image.yaml:5: a.apk has another SHA-256"):
        build_phone_image(folder, get_settings(), ignore_progress)
    text = (folder / "image.yaml").read_text()
    digest = digest_file(folder / "a.apk")
    (folder / "image.yaml").write_text(text.replace("0" * 64, digest))
    with pytest.raises(SpecError, match=r"image.yaml:5: The reference phone has no apks") as caught:
        build_phone_image(folder, get_settings(), ignore_progress)
    assert "MESOCOSM_PHONE=emulator" in caught.value.resolution
    assert "test-apk" not in phone_image_names(get_settings())


def test_a_row_that_the_phone_refuses_leaves_nothing(tmp_path: Path) -> None:
    before = {folder.machine_id for folder in iter_folders(get_settings())}
    folder = write(
        tmp_path / "bad",
        "name: test-bad\nsteps:\n  - rows: [{uri: 'content://nothing/x', values: {a: 1}}]\n",
    )
    with pytest.raises(ActionError):
        build_phone_image(folder, get_settings(), ignore_progress)
    assert "test-bad" not in phone_image_names(get_settings())
    assert not list(phone_images_dir(get_settings()).glob("test-bad/copy-*"))
    assert {folder.machine_id for folder in iter_folders(get_settings())} <= before


def test_an_unknown_image_is_refused_before_a_lease() -> None:
    with (
        pytest.raises(UnknownNameError, match="poket"),
        LocalFleet(get_settings(), say=print).acquire({"one": ResourceSpec(PHONE, "poket")}),
    ):
        pass
