from __future__ import annotations

import os
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until
from foundation.errors import (
    ImageBuildError,
    ImageCorruptError,
    ImageMissingError,
    ToolMissingError,
    UnknownNameError,
)
from foundation.process import kill_group, run, start
from images.builder import check_image, list_manifests
from images.catalog import NAMES, make_recipe
from images.manifest import MANIFEST, Manifest, read_manifest
from images.store import has_leftovers, lock_path
from tests.unit.images.stub import (
    StubRecipe,
    builder_of,
    make_nothing,
    write_disk,
    write_other,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def recipe(tmp_path: Path) -> StubRecipe:
    return StubRecipe(tmp_path / "builds")


def test_missing_image_is_built_once_and_then_found(tmp_path: Path, recipe: StubRecipe) -> None:
    builder = builder_of(tmp_path, recipe)
    first = builder.ensure("stub")
    assert builder.ensure("stub") == first == builder.find("stub")
    assert recipe.builds == 1
    assert first.file("boot/kernel").read_bytes() == b"kernel"
    assert first.label == "stub:one"


def test_manifest_lists_files_packages_and_origin(tmp_path: Path, recipe: StubRecipe) -> None:
    image = builder_of(tmp_path, recipe).ensure("stub")
    manifest = read_manifest(image.path)
    assert set(manifest.files) == {"disk.img", "boot/kernel"}
    assert manifest.files["disk.img"].size_bytes == 10_000
    assert manifest.packages == {"bash": "5.2"}
    assert manifest.notes == {"origin": "stub"}
    assert manifest.image_digest == image.digest
    assert manifest.seconds >= 0


def test_changed_inputs_build_another_image_and_keep_the_old_one(
    tmp_path: Path, recipe: StubRecipe
) -> None:
    builder = builder_of(tmp_path, recipe)
    old = builder.ensure("stub")
    recipe.content = "changed"
    with pytest.raises(ImageMissingError, match="image build stub"):
        builder.find("stub")
    new = builder.ensure("stub")
    assert new.path != old.path
    assert old.file("disk.img").exists()


def test_dependencies_are_built_first_and_their_digest_counts(
    tmp_path: Path, recipe: StubRecipe
) -> None:
    upper = StubRecipe(tmp_path / "upper", name="upper", needs=("stub",))
    builder = builder_of(tmp_path, recipe, upper)
    before = builder.ensure("upper")
    assert upper.seen[0]["stub"].name == "stub"

    recipe.content = "changed"
    recipe.work = write_other
    after = builder.ensure("upper")
    assert after.recipe_digest != before.recipe_digest
    assert read_manifest(after.path).needs["stub"] == builder.find("stub").digest


def test_images_of_tools_are_built_on_access_and_their_digest_does_not_count(
    tmp_path: Path, recipe: StubRecipe
) -> None:
    upper = StubRecipe(tmp_path / "upper", name="upper", tools=("stub",))
    builder = builder_of(tmp_path, recipe, upper)
    accessed = []

    def use(workdir: Path) -> None:
        write_disk(workdir)
        assert recipe.builds == 0
        accessed.append(upper.seen[0]["stub"])
        with pytest.raises(KeyError):
            upper.seen[0]["another"]

    upper.work = use
    built = builder.ensure("upper")
    assert accessed == [builder.find("stub")]
    assert read_manifest(built.path).needs == {}

    recipe.content = "changed"
    assert builder.ensure("upper") == built


def test_build_log_is_kept(tmp_path: Path, recipe: StubRecipe) -> None:
    builder_of(tmp_path, recipe).ensure("stub")
    (log,) = (tmp_path / "images" / "logs").iterdir()
    assert "== write\nwriting stub" in log.read_text()


def test_progress_reaches_the_caller(tmp_path: Path, recipe: StubRecipe) -> None:
    seen: list[tuple[str, float | None]] = []

    def report(phase: str, fraction: float | None = None, line: str = "") -> None:
        seen.append((phase, fraction))

    builder_of(tmp_path, recipe).ensure("stub", report)
    assert ("write", 0.5) in seen
    assert seen[-1] == ("done", 1.0)


@pytest.mark.parametrize("error", [OSError(5, "I/O error"), ToolMissingError("no tool")])
def test_failed_build_leaves_nothing(tmp_path: Path, recipe: StubRecipe, error: Exception) -> None:
    def fail(workdir: Path) -> None:
        write_disk(workdir)
        raise error

    recipe.work = fail
    builder = builder_of(tmp_path, recipe)
    with pytest.raises((ImageBuildError, ToolMissingError)):
        builder.ensure("stub")
    assert not has_leftovers(tmp_path / "images", "stub")
    recipe.work = write_disk
    assert builder.ensure("stub").file("disk.img").exists()


def test_interrupted_build_leaves_nothing(tmp_path: Path, recipe: StubRecipe) -> None:
    def interrupt(workdir: Path) -> None:
        raise KeyboardInterrupt

    recipe.work = interrupt
    with pytest.raises(KeyboardInterrupt):
        builder_of(tmp_path, recipe).ensure("stub")
    assert not has_leftovers(tmp_path / "images", "stub")


def test_recipe_without_output_is_an_error(tmp_path: Path, recipe: StubRecipe) -> None:
    recipe.work = make_nothing
    with pytest.raises(ImageBuildError, match="produced nothing"):
        builder_of(tmp_path, recipe).ensure("stub")


@pytest.mark.slow
def test_killed_build_is_never_used_and_its_leftovers_are_removed(
    tmp_path: Path, recipe: StubRecipe
) -> None:
    stub = Path(__file__).with_name("stub.py")
    env = {"PYTHONPATH": str(Path(__file__).parents[3])}
    victim = start([sys.executable, str(stub), str(tmp_path), str(recipe.log)], env=env)
    assert victim.stdout is not None
    helper = int(victim.stdout.readline())
    kill_group(victim)
    victim.stdout.close()
    if victim.stderr:
        victim.stderr.close()
    assert has_leftovers(tmp_path / "images", "stub")
    assert Path(f"/proc/{helper}").exists()

    builder = builder_of(tmp_path, recipe)
    with pytest.raises(ImageMissingError):
        builder.find("stub")
    assert builder.ensure("stub").file("disk.img").exists()
    assert not has_leftovers(tmp_path / "images", "stub")
    assert wait_until(lambda: _is_gone(helper), timeout_s=20)


def _is_gone(pid: int) -> bool:
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def test_build_killed_just_before_the_rename_is_not_used(
    tmp_path: Path, recipe: StubRecipe
) -> None:
    builder = builder_of(tmp_path, recipe)
    image = builder.ensure("stub")
    image.path.rename(image.path.with_name(".build-complete"))
    builder.ensure("stub")
    assert recipe.builds == 2
    assert not has_leftovers(tmp_path / "images", "stub")


def test_concurrent_builders_build_once(tmp_path: Path, recipe: StubRecipe) -> None:
    go = threading.Event()

    def slow(workdir: Path) -> None:
        go.wait(10)
        write_disk(workdir)

    recipe.work = slow
    waiting = threading.Event()

    def notice(phase: str, fraction: float | None = None, line: str = "") -> None:
        if phase == "waiting":
            waiting.set()

    digests: list[str] = []
    builder = builder_of(tmp_path, recipe)
    first = threading.Thread(target=lambda: digests.append(builder.ensure("stub").digest))
    first.start()
    assert wait_until(lambda: recipe.builds == 1, timeout_s=20)
    second = threading.Thread(target=lambda: digests.append(builder.ensure("stub", notice).digest))
    second.start()
    assert waiting.wait(5)
    go.set()
    first.join()
    second.join()
    assert recipe.builds == 1
    assert len(set(digests)) == 1
    assert len(digests) == 2


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: _flip(path / "disk.img"), "SHA-256"),
        (lambda path: (path / "disk.img").write_bytes(b"short"), "5 bytes, expected 10000"),
        (lambda path: (path / "boot/kernel").unlink(), "missing"),
        (lambda path: (path / "extra").write_text("x"), "unexpected"),
        (lambda path: (path / MANIFEST).write_text("{"), "manifest"),
    ],
)
def test_damaged_image_error_suggests_a_working_fix(
    tmp_path: Path, recipe: StubRecipe, damage: Callable[[Path], None], message: str
) -> None:
    builder = builder_of(tmp_path, recipe)
    image = builder.ensure("stub")
    damage(image.path)
    for ask in (builder.find, builder.ensure):
        with pytest.raises(ImageCorruptError, match=message) as caught:
            ask("stub")
        assert "mesocosm image build stub" in caught.value.resolution
    assert builder.ensure("stub", repair=True).digest == image.digest
    assert recipe.builds == 2
    assert builder.find("stub") == image


def test_damage_that_keeps_the_mtime_is_found_by_a_thorough_check(
    tmp_path: Path, recipe: StubRecipe
) -> None:
    builder = builder_of(tmp_path, recipe)
    image = builder.ensure("stub")
    disk = image.file("disk.img")
    times = disk.stat()
    _flip(disk)
    os.utime(disk, ns=(times.st_atime_ns, times.st_mtime_ns))
    manifest = read_manifest(image.path)
    check_image(image.path, manifest, thorough=False)
    with pytest.raises(ImageCorruptError, match=r"disk\.img"):
        check_image(image.path, manifest, thorough=True)


def test_touched_but_equal_file_is_no_damage(tmp_path: Path, recipe: StubRecipe) -> None:
    builder = builder_of(tmp_path, recipe)
    builder.ensure("stub").file("disk.img").touch()
    assert builder.find("stub").name == "stub"
    assert recipe.builds == 1


def test_rebuild_replaces_the_image(tmp_path: Path, recipe: StubRecipe) -> None:
    builder = builder_of(tmp_path, recipe)
    old = builder.ensure("stub")
    inode = old.file("disk.img").stat().st_ino
    new = builder.ensure("stub", rebuild=True)
    assert new == old
    assert new.file("disk.img").stat().st_ino != inode
    assert not has_leftovers(tmp_path / "images", "stub")


def test_broken_manifest_does_not_hide_the_other_images(tmp_path: Path, recipe: StubRecipe) -> None:
    builder = builder_of(tmp_path, recipe)
    broken = builder.ensure("stub")
    recipe.content = "other"
    builder.ensure("stub")
    (broken.path / MANIFEST).write_text("not json")
    rows = dict(list_manifests(builder.settings))
    assert isinstance(rows.pop(broken.path), ImageCorruptError)
    assert all(isinstance(row, Manifest) for row in rows.values())
    assert len(rows) == 1


def test_manifest_of_a_later_version_is_rejected_by_name(
    tmp_path: Path, recipe: StubRecipe
) -> None:
    image = builder_of(tmp_path, recipe).ensure("stub")
    text = (image.path / MANIFEST).read_text()
    (image.path / MANIFEST).write_text(text.replace('"format": 1', '"format": 2'))
    with pytest.raises(ImageCorruptError, match="no readable manifest") as caught:
        read_manifest(image.path)
    assert "format" in caught.value.details
    assert "input_value=2" in caught.value.details


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)])
    if mounted.exit_code != 0:
        pytest.skip("this container may not mount")
    yield folder
    run(["umount", str(folder)]).require()


def test_full_disk_is_reported_and_nothing_incomplete_is_left(
    small_disk: Path, recipe: StubRecipe
) -> None:
    def fill(workdir: Path) -> None:
        (workdir / "disk.img").write_bytes(bytes(4 << 20))

    recipe.work = fill
    with pytest.raises(ImageBuildError, match="disk is full") as caught:
        builder_of(small_disk, recipe).ensure("stub")
    assert "MESOCOSM_STATE_DIR" in caught.value.resolution
    assert not has_leftovers(small_disk / "images", "stub")
    assert shutil.disk_usage(small_disk).free > 900_000


def test_unwritable_folder_is_reported(tmp_path: Path, recipe: StubRecipe) -> None:
    (tmp_path / "images").write_text("a file where the folder should be")
    with pytest.raises(ImageBuildError, match="Cannot write images"):
        builder_of(tmp_path, recipe).ensure("stub")


def test_lock_is_released_after_a_failure(tmp_path: Path, recipe: StubRecipe) -> None:
    from foundation.files import FileLock

    recipe.work = make_nothing
    with pytest.raises(ImageBuildError):
        builder_of(tmp_path, recipe).ensure("stub")
    lock = FileLock(lock_path(tmp_path / "images", "stub"))
    assert lock.try_acquire()
    lock.release()


def test_unknown_image_is_rejected_with_nearest_match() -> None:
    from foundation.settings import Settings

    with pytest.raises(UnknownNameError, match="Did you mean 'desktop'"):
        make_recipe("dekstop", Settings())
    assert "base" in NAMES
