"""Programs of Debian's for Ubuntu: closure of packages; a real archive on loopback, apt and dpkg."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import pytest

from foundation.errors import ImageBuildError, ToolMissingError, UnknownNameError
from foundation.process import run
from foundation.settings import Settings
from images import distribution as distribution_module
from images.debian_packages import read_installed, read_relations, show_relations
from images.debian_program import (
    Program,
    find_closure,
    get_program,
    make_debian_program,
)
from images.distribution import DISTRIBUTIONS
from images.log import ignore_progress
from tests.standins.archive import SigningKey, StandInArchive

STATUS = """Package: libc6
Status: install ok installed
Version: 2.35-0ubuntu3

Package: libgone1
Status: deinstall ok config-files
Version: 3

Package: libgtk-3-0
Status: install ok installed
Version: 3.24
Provides: gtk, libgtk-3 (= 3.24)
Description: many
 lines: of it
"""
PROGRAM = Program("chromium", "usr/lib/chromium/chromium", ("chromium-sandbox",))
FIELDS = {
    "chromium": {
        "Depends": "libc6 (>= 2.35), libnew7 (>= 2), libgtk-3-0 | portal, chromium-common (= 9), tool"
    },
    "chromium-common": {"Source": "chromium (9)", "Depends": "libc6 (>= 2.34), xdg-utils"},
    "chromium-sandbox": {"Source": "chromium"},
    "libnew7": {"Section": "libs", "Depends": "libnewer2, libnew7-data"},
    "libnewer2": {"Section": "libs", "Pre-Depends": "libc6 (>= 2.14)"},
    "libnew7-data": {"Section": "misc"},
    "tool": {"Section": "utils"},
    "xdg-utils": {"Section": "utils"},
}


def test_installed_packages_have_versions_and_what_they_provide() -> None:
    assert read_installed(STATUS) == {
        "libc6": "2.35-0ubuntu3",
        "libgtk-3-0": "3.24",
        "gtk": "0",
        "libgtk-3": "3.24",
    }


@pytest.mark.parametrize(
    "field", ["a", "a (>= 1:2.3~rc1-4), b", "a | b (= 2), c:any", "", "python3:any (>= 3.10~)"]
)
def test_relations_are_read_as_they_are_shown(field: str) -> None:
    assert show_relations(read_relations(field)) == field.replace(":any", "")


def test_relation_without_name_is_rejected() -> None:
    with pytest.raises(ImageBuildError, match="not a dependency"):
        read_relations("a, (>= 2)")


def test_libraries_that_are_missing_or_older_become_private_and_programs_come_from_ubuntu() -> None:
    closure = find_closure(PROGRAM, read_installed(STATUS), FIELDS.__getitem__)
    assert closure.parts == ["chromium", "chromium-sandbox", "chromium-common"]
    assert closure.libraries == ["libnew7", "libnewer2"]
    kept = show_relations(closure.kept)
    assert kept == (
        "libc6 (>= 2.35), libgtk-3-0 | portal, tool, libnew7-data, libc6 (>= 2.34), xdg-utils, "
        "libc6 (>= 2.14)"
    )


def test_program_for_a_newer_c_library_is_rejected() -> None:
    versions = read_installed(STATUS) | {"libc6": "2.31"}
    fields = FIELDS | {"libc6": {"Section": "libs"}}
    with pytest.raises(ImageBuildError, match=r"needs libc6 \(>= 2\.35\); the desktop has 2\.31"):
        find_closure(PROGRAM, versions, fields.__getitem__)


def test_unknown_program_is_named_with_near_names() -> None:
    with pytest.raises(UnknownNameError) as caught:
        get_program("chromiun")
    assert "chromium" in str(caught.value)


@pytest.mark.slow
def test_program_is_packed_with_its_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distribution_module, "read_archives", list)
    contents = {
        "chromium": {
            "DEBIAN/control": "Depends: libc6 (>= 2.35), libnew7 (>= 2), libgtk-3-0\nRecommends: portal\n",
            "usr/lib/chromium/chromium": "the program",
        },
        "chromium-sandbox": {
            "DEBIAN/control": "Source: chromium\n",
            "usr/lib/chromium/chrome-sandbox": "the sandbox",
        },
        "libnew7": {
            "DEBIAN/control": "Section: libs\n",
            "usr/lib/x86_64-linux-gnu/libnew.so.7": "the library",
            "usr/share/doc/libnew7/copyright": "free",
        },
    }
    with tempfile.TemporaryDirectory(prefix="keys-") as home:
        try:
            key = SigningKey(Path(home) / "debian", "debian")
        except ToolMissingError as exc:
            pytest.skip(exc.brief)
        keyring = tmp_path / "debian.gpg"
        keyring.write_bytes(key.public())
        with StandInArchive(tmp_path / "archive", key) as archive:
            packages = (("libnew7", "2.1"), ("chromium", "9-1"), ("chromium-sandbox", "9-1"))
            archive.publish("bookworm", *packages, origin="Debian", contents=contents)
            archive.publish("bookworm-updates", origin="Debian")
            archive.publish("bookworm-security", origin="Debian")
            debian = dataclasses.replace(
                DISTRIBUTIONS["debian-12"], security_path=None, keyring=str(keyring)
            )
            out = tmp_path / "out"
            out.mkdir()
            file, version = make_debian_program(
                PROGRAM,
                STATUS,
                Settings(mirror_debian=archive.uri),
                out,
                ignore_progress,
                distribution=debian,
            )
        key.close()

    assert version == "9-1+mesocosm1"
    assert [path.name for path in out.iterdir()] == ["chromium.deb"]
    tree = tmp_path / "tree"
    run(["dpkg-deb", "--raw-extract", str(file), str(tree)]).require()
    folder = tree / "usr/lib/chromium"
    assert (folder / "mesocosm-libraries/libnew.so.7").read_text() == "the library"
    assert (folder / "chrome-sandbox").read_text() == "the sandbox"
    assert not (tree / "usr/share/doc/libnew7").exists()
    control = (tree / "DEBIAN/control").read_text()
    assert "Depends: libc6 (>= 2.35), libgtk-3-0, patchelf\n" in control
    assert "Provides: chromium-sandbox\n" in control
    assert "Recommends" not in control
    script = tree / "DEBIAN/postinst"
    assert (
        "--set-rpath '$ORIGIN/mesocosm-libraries' /usr/lib/chromium/chromium" in script.read_text()
    )
    assert run(["sh", "-n", str(script)]).exit_code == 0
