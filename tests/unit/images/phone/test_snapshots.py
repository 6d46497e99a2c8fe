from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from images.phone.device.store.database import Store
from images.phone.device.store.files import restore_files, save_files
from images.phone.device.store.snapshots import SnapshotRefusedError, SnapshotStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDERS = ("card", "tmp")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FOLDERS:
        (tmp_path / "root" / name).mkdir(parents=True)
    return tmp_path / "root"


def picture(root: Path) -> dict[str, object]:
    """Describe all files below the root: mode, time and content."""

    def rows() -> Iterator[tuple[str, object]]:
        for path in sorted(root.rglob("*")):
            info = path.lstat()
            content = path.readlink() if path.is_symlink() else path.is_file() and path.read_bytes()
            name = str(path.relative_to(root))
            stamp = None if path.is_symlink() or name in FOLDERS else info.st_mtime_ns
            yield name, (info.st_mode, stamp, content)

    return dict(rows())


def fill(root: Path) -> None:
    (root / "card/a").write_bytes(b"a")
    (root / "card/dir/inner").mkdir(parents=True)
    (root / "card/dir/inner/b").write_bytes(b"b" * 100_000)
    (root / "card/link").symlink_to("a")
    (root / "tmp/run").write_text("#!/bin/sh")
    (root / "tmp/run").chmod(0o755)
    (root / "tmp" / os.fsdecode(b"not \xff utf-8")).write_bytes(b"odd")


def test_untouched_files_are_not_written(root: Path, tmp_path: Path) -> None:
    fill(root)
    before = (root / "card/a").stat().st_ino
    save_files(root, FOLDERS, tmp_path / "files.db")
    assert restore_files(root, FOLDERS, tmp_path / "files.db") == 0
    assert (root / "card/a").stat().st_ino == before


def test_change_that_keeps_its_timestamp_is_found(root: Path, tmp_path: Path) -> None:
    fill(root)
    save_files(root, FOLDERS, tmp_path / "files.db")
    path = root / "card/a"
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    path.write_bytes(b"X")
    os.utime(path, ns=times)
    assert restore_files(root, FOLDERS, tmp_path / "files.db") == 1
    assert path.read_bytes() == b"a"


action = st.tuples(
    st.sampled_from(["write", "remove", "mkdir", "link", "chmod", "move", "rmtree"]),
    st.sampled_from(
        [
            "card/a",
            "card/dir",
            "card/dir/inner",
            "card/dir/inner/b",
            "card/link",
            "tmp/run",
            "tmp/new",
        ]
    ),
)


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(action, max_size=12))
def test_all_changes_are_reverted(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    root = folder / "root"
    for name in FOLDERS:
        (root / name).mkdir(parents=True)
    fill(root)
    save_files(root, FOLDERS, folder / "files.db")
    before = picture(root)
    for _ in range(2):
        for kind, name in actions:
            disturb(root, kind, root / name)
        restore_files(root, FOLDERS, folder / "files.db")
        assert picture(root) == before


def disturb(root: Path, kind: str, path: Path) -> None:
    import contextlib
    import shutil

    with contextlib.suppress(OSError):
        if kind == "write":
            path.write_bytes(b"other")
        elif kind == "remove":
            path.unlink()
        elif kind == "mkdir":
            path.mkdir()
        elif kind == "link":
            path.symlink_to("/etc/hostname")
        elif kind == "chmod":
            path.chmod(0)
        elif kind == "move":
            path.rename(root / "tmp/moved")
        else:
            shutil.rmtree(path)


class TestSnapshots:
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        phone_store = Store(tmp_path / "phone.db")
        yield phone_store
        phone_store.close()

    @pytest.fixture
    def snapshots(self, root: Path, tmp_path: Path) -> SnapshotStore:
        (tmp_path / "snapshots").mkdir()
        return SnapshotStore(tmp_path / "snapshots", root, FOLDERS)

    def test_saving_a_name_again_replaces_it(
        self, store: Store, snapshots: SnapshotStore, tmp_path: Path
    ) -> None:
        for value in ("1", "2"):
            store.put_setting("system", "x", value)
            snapshots.save("here", store)
        store.put_setting("system", "x", "3")
        version = store.version
        snapshots.load("here", store)
        assert store.setting("system", "x") == "2"
        assert store.version != version
        assert len(list((tmp_path / "snapshots").iterdir())) == 2

    def test_leftovers_of_a_crash_are_removed(
        self, store: Store, snapshots: SnapshotStore, root: Path, tmp_path: Path
    ) -> None:
        snapshots.save("here", store)
        (tmp_path / "snapshots/.version-halfmade").mkdir()
        again = SnapshotStore(tmp_path / "snapshots", root, FOLDERS)
        assert again.names() == ["here"]
        assert not (tmp_path / "snapshots/.version-halfmade").exists()

    def test_damaged_snapshot_changes_nothing(
        self, store: Store, snapshots: SnapshotStore, tmp_path: Path
    ) -> None:
        snapshots.save("here", store)
        (tmp_path / "snapshots/here/phone.db").write_bytes(b"no database" * 1000)
        store.put_setting("system", "x", "kept")
        with pytest.raises(SnapshotRefusedError):
            snapshots.load("here", store)
        assert store.setting("system", "x") == "kept"

    @pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "x" * 65, "a b"])
    def test_invalid_names_are_rejected(
        self, store: Store, snapshots: SnapshotStore, name: str
    ) -> None:
        with pytest.raises(SnapshotRefusedError):
            snapshots.save(name, store)
        with pytest.raises(SnapshotRefusedError):
            snapshots.load(name, store)
