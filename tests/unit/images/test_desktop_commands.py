"""The exact commands that build Ubuntu desktops, without access to their archives."""

from __future__ import annotations

import os
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.process import CommandResult
from foundation.settings import Settings
from images import bootstrap as bootstrap_module
from images import firefox as firefox_module
from images.desktop import firmware as firmware_module
from images.desktop import keys as keys_module
from images.desktop import recipe as recipe_module
from images.desktop.recipe import HERE, DesktopRecipe, read_packages
from images.distribution import DISTRIBUTIONS, Reachability
from images.log import ignore_progress
from images.recipe import Image

if TYPE_CHECKING:
    from collections.abc import Sequence

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


class Recorder:
    """Record commands, and create the files that the recipe reads afterwards."""

    def __init__(self, workdir: Path) -> None:
        self._workdir = workdir
        self.commands: list[list[str]] = []

    def __call__(self, argv: Sequence[str], **_options: object) -> CommandResult:
        self.commands.append(list(argv))
        if argv[0] == "ssh-keygen":
            Path(f"{argv[-1]}.pub").write_text("ssh-ed25519 KEY\n")
        if argv[0] == "mmdebstrap":
            (self._workdir / "root").mkdir()
            (self._workdir / "packages.txt").write_text("bash 5.2\nfirefox 146.0~build1\n")
        return CommandResult(tuple(argv), 0, b"", b"")

    def run(self, *argv: str, timeout_s: float) -> None:
        """Record a program of the hypervisor image."""
        assert timeout_s
        self(argv)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ubuntu-22.04", "ubuntu-24.04"])
def test_build_commands_are_exactly_these(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workdir = tmp_path / "work"
    workdir.mkdir()
    recorder = Recorder(workdir)
    monkeypatch.setattr(bootstrap_module, "stream", recorder)
    monkeypatch.setattr(bootstrap_module, "read_apt_options", list)
    monkeypatch.setattr(bootstrap_module, "find_keyring", lambda *_words: "KEYRING")
    monkeypatch.setattr(firmware_module, "run", recorder)
    monkeypatch.setattr(recipe_module, "run", recorder)
    monkeypatch.setattr(recipe_module, "hypervisor_tools", lambda *_a: nullcontext(recorder))
    monkeypatch.setattr(keys_module, "run", recorder)
    monkeypatch.setattr(firefox_module, "fetch", lambda *_a, **_k: Reachability(ok=True, reason=""))
    monkeypatch.setattr(firefox_module, "fetch_bytes", lambda _url: b"KEY")
    monkeypatch.setattr(firefox_module, "require_keys", lambda *_a, **_k: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    settings = Settings(
        state_dir=tmp_path / "state",
        distribution=name,
        mirror_ubuntu="http://ubuntu.test/ubuntu",
        mirror_mozilla="http://mozilla.test/apt",
    )

    hypervisor = Image("hypervisor", "debian-12", "", "", tmp_path)
    product = DesktopRecipe(settings).build(workdir, ignore_progress, {"hypervisor": hypervisor})

    shown = "\n\n".join(" \\\n  ".join(map(shlex.quote, argv)) for argv in recorder.commands)
    for place, word in ((HERE, "RECIPE"), (workdir, "WORK"), (tmp_path / "state", "STATE")):
        shown = shown.replace(str(place), word).replace(str(place).lstrip("/"), word)
    golden = GOLDEN / f"desktop-{name}.txt"
    assert shown + "\n" == golden.read_text()
    assert product.packages["firefox"] == "146.0~build1"
    assert product.notes["browser"] == "Firefox, Mozilla's, from http://mozilla.test/apt"
    assert not {"firefox.pref", "mozilla.asc"} & {path.name for path in workdir.iterdir()}


def test_package_lists_exclude_ubuntus_firefox_stub() -> None:
    for distribution in DISTRIBUTIONS.values():
        packages = read_packages(distribution)
        assert not {"firefox", "firefox-esr"} & set(packages)
        assert len(packages) == len(set(packages))
