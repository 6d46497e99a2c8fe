"""What `mesocosm image prune` removes, and above all what it keeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from appliance.bringup.image_users import backing_file
from appliance.bringup.prune import Pruner
from appliance.cli.main import main
from foundation.files import FileLock
from foundation.process import run
from images.store import LEFTOVER, lock_path
from provisioning.machine_folder import MachineFolder
from tests.standins.records import desktop_record
from tests.unit.images.stub import StubRecipe, builder_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from appliance.bringup.prune import OldImage
    from images.builder import Builder
    from images.recipe import Image


def write_qcow2(workdir: Path) -> None:
    """Create a disk in the format of a desktop's image."""
    run(["qemu-img", "create", "-q", "-f", "qcow2", str(workdir / "disk.qcow2"), "1M"]).require()


@pytest.fixture
def recipe(tmp_path: Path) -> StubRecipe:
    return StubRecipe(tmp_path / "builds", "desktop", "debian-12", work=write_qcow2)


@pytest.fixture
def builder(tmp_path: Path, recipe: StubRecipe) -> Builder:
    return builder_of(tmp_path / "state", recipe)


@pytest.fixture
def old(builder: Builder, recipe: StubRecipe) -> Image:
    """An image whose recipe has changed since; the current image exists too."""
    image = builder.ensure("desktop")
    recipe.content = "changed"
    builder.ensure("desktop")
    return image


@pytest.fixture
def pruner(builder: Builder) -> Pruner:
    return Pruner(builder.settings, make=builder.make)


def overlay(builder: Builder, where: str, backing: Path) -> Path:
    """Create a disk on top of another one."""
    path = builder.settings.state_dir / where
    path.parent.mkdir(parents=True)
    argv = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", str(backing), str(path)]
    run(argv).require()
    return path


def reasons(images: list[OldImage]) -> list[str]:
    return [image.kept for image in images]


def silent(_line: str) -> None: ...


def test_outdated_images_are_removed_and_current_ones_kept(
    pruner: Pruner, builder: Builder, old: Image
) -> None:
    messages: list[str] = []
    images = pruner.find()
    assert [(image.folder, image.kept) for image in images] == [(old.path, "")]
    assert images[0].size_bytes > 0
    assert old.path.exists()

    assert reasons(pruner.remove(images, messages.append)) == [""]
    assert messages == [f"removed desktop:debian-12 {old.digest[:12]}"]
    assert not old.path.exists()
    assert builder.find("desktop").file("disk.qcow2").exists()
    assert pruner.find() == []
    assert pruner.remove(images, silent) == images, "gone already is no error"


def test_backing_file_of_a_machine_is_kept_through_every_layer(
    pruner: Pruner, builder: Builder, old: Image
) -> None:
    template = overlay(builder, "templates/abc/disk.qcow2", old.file("disk.qcow2"))
    machine = overlay(builder, "machines/desktop-x/disk.qcow2", template)
    assert backing_file(machine) == template
    images = pruner.find()
    assert reasons(images) == ["template abc"]
    assert pruner.remove(images, silent) == images
    run(["qemu-img", "info", "--backing-chain", str(machine)]).require()

    template.unlink()
    machine.unlink()
    overlay(builder, "machines/desktop-y/disk.qcow2", old.file("disk.qcow2"))
    assert reasons(pruner.find()) == ["machine desktop-y"]


def test_image_used_after_listing_is_kept(pruner: Pruner, builder: Builder, old: Image) -> None:
    images = pruner.find()
    machine = overlay(builder, "machines/desktop-x/disk.qcow2", old.file("disk.qcow2"))
    assert reasons(pruner.remove(images, silent)) == ["machine desktop-x"]
    run(["qemu-img", "info", "--backing-chain", str(machine)]).require()


def test_image_in_a_machine_record_is_kept(pruner: Pruner, builder: Builder, old: Image) -> None:
    folder = MachineFolder(builder.settings.machines_dir / "desktop-z")
    folder.path.mkdir(parents=True)
    folder.write(desktop_record("desktop-z", image=old.label, image_digest=old.digest))
    images = pruner.find()
    # The stub's two images hold the same bytes: the digest would also match the current one.
    assert reasons(pruner.remove(images, silent)) == ["machine desktop-z"]
    assert old.path.exists()


def test_image_opened_by_a_process_is_kept(pruner: Pruner, old: Image) -> None:
    with old.file("disk.qcow2").open("rb"):
        assert reasons(pruner.find())[0].startswith("process ")
    assert reasons(pruner.find()) == [""]


def test_image_being_built_is_kept(pruner: Pruner, builder: Builder, old: Image) -> None:
    lock = FileLock(lock_path(builder.settings.images_dir, "desktop"))
    assert lock.try_acquire()
    try:
        assert reasons(pruner.remove(pruner.find(), silent)) == [
            "another process is building that image"
        ]
    finally:
        lock.release()
    assert old.path.exists()


def test_interrupted_removal_is_completed_by_the_next(
    pruner: Pruner, builder: Builder, old: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_folder: Path) -> None:
        raise KeyboardInterrupt

    listed = pruner.find()
    with monkeypatch.context() as patch:
        patch.setattr("appliance.bringup.prune.remove_folder", interrupt)
        with pytest.raises(KeyboardInterrupt):
            pruner.remove(listed, silent)
    images = pruner.find()
    assert [(image.variant, image.kept) for image in images] == [("left over", "")]
    assert not old.path.exists()
    pruner.remove(images, silent)
    assert list((builder.settings.images_dir / "desktop").glob(f"{LEFTOVER}*")) == []
    assert builder.find("desktop").path.exists()


def test_newest_image_is_kept_if_the_current_one_is_unknown(
    tmp_path: Path, recipe: StubRecipe
) -> None:
    base = StubRecipe(tmp_path / "bases", "base", "debian-12")
    recipe.needs = ("base",)
    builder = builder_of(tmp_path / "state", recipe, base)
    first = builder.ensure("desktop")
    recipe.content = "changed"
    second = builder.ensure("desktop")
    (second.path / "manifest.json").write_text(
        (second.path / "manifest.json").read_text().replace('"built_at": "2', '"built_at": "3')
    )
    base.content = "changed: nothing of it is built"
    images = Pruner(builder.settings, ["desktop"], make=builder.make).find()
    assert [image.folder for image in images] == [first.path]


@pytest.fixture
def on_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    from foundation.settings import get_settings

    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path / "state"))
    get_settings.cache_clear()
    return lambda *args: main(["image", "prune", *args])


@pytest.mark.slow
def test_command_removes_images_only_on_request(
    on_command_line: Callable[..., int], old: Image, capsys: pytest.CaptureFixture[str]
) -> None:
    assert on_command_line("desktop") == 0
    shown = capsys.readouterr()
    assert old.digest[:12] in shown.out
    assert "Nothing was removed. To remove these images, use --yes." in shown.err

    assert on_command_line("--json") == 0
    rows = json.loads(capsys.readouterr().out)["images"]
    assert {row["removed"] for row in rows} == {False}
    assert str(old.path) in [row["path"] for row in rows]
    assert old.path.exists()

    assert on_command_line("--json", "--yes", "desktop") == 0
    rows = json.loads(capsys.readouterr().out)["images"]
    assert {row["removed"] for row in rows} == {True}
    assert not old.path.exists()

    assert on_command_line() == 0
    assert "There are no old images." in capsys.readouterr().err
    assert on_command_line("desktpo") == 2
    assert "desktop" in capsys.readouterr().err
