"""Layers of custom images in a real Docker engine, on the small base image as parent."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING

import pytest

from foundation.errors import ImageBuildError
from foundation.process import run
from foundation.settings import Settings, get_settings
from images.builder import ensure
from images.custom.archive import PackageArchive
from images.custom.folder import read_folder
from images.custom.layers import LayerStore
from images.custom.provision import layers_of
from images.distribution import BASE
from images.engine import connect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.docker, pytest.mark.slow]

NAME = "layer-test"
USER = "useradd --create-home --uid 1000 user; mkdir -p /etc/.mesocosm-kept; echo kept > /etc/.mesocosm-kept/hostname"
HEAD = f"schema_version: 1\nname: {NAME}\nextends: debian-12\nsteps:\n  - run: {USER!r}\n"


class Lines:
    """A report that keeps the lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, phase: str, fraction: float | None = None, line: str = "") -> None:
        self.lines.append(line)


class Bench:
    """Builds the layers of a folder, without making a disk of them."""

    def __init__(self, folder: Path, settings: Settings, base: str) -> None:
        self.folder = folder
        self.settings = settings
        self.report = Lines()
        self.store = LayerStore(settings.owner, NAME, self.report)
        with connect() as client:
            client.images.get(base).tag(self.store.tag("base"))
        self.built: list[str] = []

    def build(self, steps: str) -> list[str]:
        """Build the missing layers; return all keys."""
        (self.folder / "image.yaml").write_text(HEAD + steps)
        read = read_folder(self.folder)
        archive = PackageArchive(BASE, self.settings, self.report)
        keys = ["base"]
        self.built = []
        for layer in layers_of(read.path, read.content):
            keys.append(layer.key(keys[-1]))
            if not self.store.has(keys[-1]):
                self.store.build(layer, keys[-2], keys[-1], self.folder.parent / "work", archive)
                self.built.append(layer.label)
        return keys

    def tree(self, key: str) -> Path:
        root = self.folder.parent / f"tree-{key[:6]}"
        self.store.export(key, root)
        return root


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    image = ensure("base", get_settings())
    folder = tmp_path / "image"
    folder.mkdir()
    settings = get_settings().model_copy(update={"state_dir": tmp_path / "state"})
    made = Bench(folder, settings, image.tag or "")
    yield made
    made.store.remove_leftovers()
    made.store.remove_others([])
    with connect() as client:
        client.images.remove(made.store.tag("base"))


def test_files_archives_and_commands_change_the_tree(bench: Bench, tmp_path: Path) -> None:
    (bench.folder / "notes").mkdir()
    (bench.folder / "notes/a b.txt").write_text("note")
    (bench.folder / "notes/a b.txt").chmod(0o666)
    with tarfile.open(bench.folder / "app.tar.gz", "w:gz") as tar:
        tar.add(bench.folder / "notes", "app-1.0/share")
    digest = run(["sha256sum", str(bench.folder / "app.tar.gz")]).text.split()[0]
    keys = bench.build(
        "  - files:\n"
        "      - {from: notes, to: /home/user/Documents}\n"
        "      - {from: notes/a b.txt, to: /etc/app/a.conf, mode: '0600'}\n"
        f"  - archives: [{{file: app.tar.gz, sha256: {digest}, to: /opt/app, strip: 1}}]\n"
        "  - {run: 'cat notes/* > ~/copy.txt; id -un >> ~/copy.txt', as: user, uses: [notes]}\n"
    )
    root = bench.tree(keys[-1])
    note = root / "home/user/Documents/a b.txt"
    assert (note.read_text(), note.stat().st_uid, note.stat().st_mode & 0o777) == (
        *("note", 1000),
        0o644,
    )
    assert (root / "home/user/Documents").stat().st_uid == 1000
    conf = (root / "etc/app/a.conf").stat()
    assert (conf.st_uid, conf.st_mode & 0o777) == (0, 0o600)
    assert (root / "etc").stat().st_mode & 0o777 == 0o755
    assert (root / "opt/app/share/a b.txt").read_text() == "note"
    copied = root / "home/user/copy.txt"
    assert (copied.read_text(), copied.stat().st_uid) == ("noteuser\n", 1000)
    # The engine has files of its own there in every container.
    assert (root / "etc/hostname").read_text() == "kept\n"
    assert not (root / ".dockerenv").exists()
    assert [*(root / "run").iterdir(), *(root / "tmp").iterdir()] == []


def test_only_a_further_step_is_built(bench: Bench) -> None:
    steps = "".join(f"  - run: echo {number} > /srv/{number}\n" for number in range(3))
    bench.build(steps)
    assert len(bench.built) == 4
    bench.build(f"{steps}  - run: echo more > /srv/more\n")
    assert bench.built == ["run: echo more > /srv/more"]
    bench.build(steps.replace("echo 2", "echo two"))
    assert bench.built == ["run: echo two > /srv/2"]


def test_a_failed_step_keeps_its_tree_and_says_how_to_open_it(bench: Bench) -> None:
    with pytest.raises(ImageBuildError) as caught:
        bench.build("  - run: 'echo half > /srv/half; echo wrong >&2; exit 7'\n")
    error = caught.value
    assert "failed with exit code 7" in error.brief
    assert "wrong" in error.details
    command = error.resolution.partition(": ")[2].split()
    assert command[:4] == ["docker", "run", "-it", "--rm"]
    shown = run(["docker", "run", "--rm", command[4], "cat", "/srv/half"])
    run(["docker", "rmi", command[4]]).require()
    assert shown.text == "half"
    assert bench.store.remove_leftovers() == 0


def test_no_layer_contains_the_hosts_proxies(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://user:secret@proxy.test:1")
    keys = bench.build("  - run: 'echo $http_proxy > /dev/stderr'\n")
    assert "http://user:secret@proxy.test:1" in bench.report.lines
    with connect() as client:
        history = str(client.images.get(bench.store.tag(keys[-1])).attrs)
    assert "secret" not in history
