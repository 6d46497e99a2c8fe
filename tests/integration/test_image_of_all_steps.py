"""An image with every kind of step is built, refused for its screen, reviewed, tested, and used."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import playwright
import pytest

from appliance.bringup.custom_image import build_custom_image
from appliance.bringup.custom_removal import remove_custom_image
from appliance.verify.custom import PROBE_CHECK, SCREEN_CHECK
from foundation.errors import DesktopFaultyError
from foundation.files import digest_file
from foundation.process import run
from foundation.settings import get_settings
from images.builder import Builder
from images.custom.registered import find_registered, read_verdict
from images.log import ignore_progress
from provisioning.fleet.local import LocalFleet
from provisioning.resource import DESKTOP, ResourceSpec
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.tiers import nightly

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    pytest.mark.timeout(3000),
    nightly("builds and boots another desktop twice, and its container: minutes under emulation"),
    NEEDS_APPLIANCE,
]

NAME = "all-steps"
SPECIFICATION = Path(__file__).parents[1] / "images" / NAME / "test_steps.py"
CONTROL = """\
Package: mesocosm-greeting
Version: 1.0
Architecture: all
Maintainer: nobody <nobody@example.org>
Depends: figlet
Description: a greeting
"""
DECLARATION = """\
schema_version: 1
name: all-steps
extends: desktop
locale: en_GB.UTF-8
timezone: Europe/Berlin
steps:
  - packages: [hello]
  - debs: [{{file: greeting.deb, sha256: {deb}}}]
  - archives: [{{file: tool.tar.gz, sha256: {archive}, to: /opt/tool, strip: 1}}]
  - pip: [cowsay==6.1]
  - files: [{{from: notes, to: /home/user/Notes}}]
  - {{run: "id -un > ~/who.txt; cat notes/note.txt >> ~/who.txt", as: user, uses: [notes]}}
  - settings:
      org.gnome.desktop.interface: {{cursor-blink: false}}
      org.gnome.desktop.peripherals.keyboard: {{delay: {{gvariant: "uint32 400"}}}}
  - fonts: [symbols.ttf]
  - data:
      documents: notes
      bookmarks: [{{title: Tool, url: "file:///opt/tool/share/page.html"}}]
      profiles: {{.config/tool: notes}}
session:
  start: [gedit ~/Documents/note.txt]
  run: [{{run: touch ~/.session-ran}}]
  ready: [{{window: note.txt}}, {{process: gedit}}, {{command: test -e ~/.session-ran}}]
machine: {{screen: 1024x768, memory_mib: 2560}}
"""


def make_package(folder: Path, target: Path) -> None:
    (folder / "DEBIAN").mkdir(parents=True)
    (folder / "DEBIAN/control").write_text(CONTROL)
    (folder / "usr/share/greeting").mkdir(parents=True)
    (folder / "usr/share/greeting/text").write_text("hello\n")
    run(["dpkg-deb", "--root-owner-group", "--build", str(folder), str(target)]).require()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the folder of the image; afterwards nothing of it is left on the appliance."""
    place = tmp_path_factory.mktemp(NAME)
    (place / "notes").mkdir()
    (place / "notes/note.txt").write_text("a note\n")
    make_package(tmp_path_factory.mktemp("deb") / "root", place / "greeting.deb")
    with tarfile.open(place / "tool.tar.gz", "w:gz") as tar:
        tar.add(place / "notes/note.txt", "tool-1.0/share/page.html")
    # A font that no distribution has, in a package that tests need anyway.
    (font, *_) = Path(playwright.__file__).parent.rglob("codicon*.ttf")
    shutil.copy(font, place / "symbols.ttf")
    digests = {
        "deb": digest_file(place / "greeting.deb"),
        "archive": digest_file(place / "tool.tar.gz"),
    }
    (place / "image.yaml").write_text(DECLARATION.format(**digests))
    shutil.copy(SPECIFICATION, place)
    yield place
    if find_registered(NAME, get_settings()) is not None:
        remove_custom_image(NAME, get_settings())


def test_a_screen_that_nobody_reviewed_is_refused(folder: Path) -> None:
    with pytest.raises(DesktopFaultyError, match="1 of") as caught:
        build_custom_image(folder, get_settings(), ignore_progress)
    assert SCREEN_CHECK in caught.value.details
    assert find_registered(NAME, get_settings()) is None


def test_every_step_did_what_it_says(folder: Path) -> None:
    shutil.copy(get_settings().custom_images_dir / NAME / "screen.png", folder)
    (*_, built) = build_custom_image(folder, get_settings(), ignore_progress)
    verdict = read_verdict(NAME, get_settings())
    assert verdict is not None
    assert (verdict.digest, verdict.failed) == (built.image.digest, ())
    assert {SCREEN_CHECK, PROBE_CHECK} < set(verdict.passed)
    names = {name.rpartition("::")[2] for name in verdict.passed}
    assert {"test_packages", "test_fonts", "test_the_started_program_is_open"} < names


def test_its_container_has_the_same_tree(folder: Path) -> None:
    settings = get_settings().model_copy(update={"desktop": "container"})
    Builder(settings).ensure(f"desktop-container:{NAME}")
    fleet = LocalFleet(settings, refill=lambda _spec: None)
    with fleet.acquire({DESKTOP: ResourceSpec(DESKTOP, NAME)}) as lease:
        machine = lease.environment.machines[DESKTOP]
        assert machine.info.image == f"desktop-container:{NAME}"
        said = machine.run(["figlet", "-v"], timeout_s=60)
        assert said.exit_code == 0
        shown = machine.run(["python3", "-c", "import cowsay; cowsay.cow('moo')"], timeout_s=60)
        assert b"moo" in shown.stdout
        assert machine.run(["cat", "/home/user/who.txt"]).stdout == b"user\na note\n"
        machine.files.put("/home/user/Documents/new.txt", b"new\n")
        lease.reset()
        machine = lease.environment.machines[DESKTOP]
        assert machine.files.stat("/home/user/Documents/new.txt") is None
        assert machine.files.stat("/home/user/Documents/note.txt") is not None
    fleet.wait_for_jobs()
