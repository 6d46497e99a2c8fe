"""Debian's Firefox for Ubuntu desktops, with private copies of libraries that only Debian has.

Debian builds its ``firefox-esr`` against a libvpx that no Ubuntu has, and with packed relocations,
which the C library of Ubuntu 22.04 refuses (``GLIBC_ABI_DT_RELR``, new in 2.36). Both libraries are
installed in the program's own folder, where nothing else finds them. Firefox loads the libraries in
``dependentlibs.list`` by path, before ``libxul.so`` requests them by name; the C library is loaded
by the interpreter and the rpath that the guest's patchelf writes into the program.
Source: Mozilla, ``xpcom/glue/standalone/nsXPCOMGlue.cpp``; ld.so(8); patchelf(1).
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError
from foundation.process import run
from images.debian_packages import VERSION_SUFFIX, DebianPackages, unpack

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Report

PACKAGE = "firefox-esr"
CODEC, CODEC_LIBRARY = "libvpx7", "libvpx.so.7"
"""A package that Ubuntu desktops do not install, and the library that is extracted from it."""

C_LIBRARY = "libc6"
"""Debian's C library, used only for a desktop whose own is older."""

_PROGRAM = "usr/lib/firefox-esr"
_MAIN_LIBRARY = "libxul.so"
# Debian's shared library policy requires its own release of these; Firefox uses no symbol of it.
_ANY_VERSION = ("libx11-xcb1",)
_LOADER = "ld-linux-x86-64.so.2"
_POSTINST = f"""
if [ "$1" = configure ]; then
    for program in firefox-esr glxtest vaapitest vulkantest crashhelper crashreporter pingsender; do
        [ ! -f /{_PROGRAM}/$program ] || patchelf --set-interpreter /{_PROGRAM}/glibc/{_LOADER} \\
            --force-rpath --set-rpath /{_PROGRAM}/glibc /{_PROGRAM}/$program
    done
fi
"""


def make_debian_firefox(
    settings: Settings,
    workdir: Path,
    report: Report,
    *,
    distribution: Distribution,
    with_c_library: bool,
) -> tuple[Path, str]:
    """Build a package of Debian's Firefox that installs on Ubuntu.

    Args:
        settings: may name Debian's mirror.
        workdir: output folder; may be deleted once the system is built.
        report: receives progress.
        distribution: the Debian release that Firefox is taken from.
        with_c_library: include Debian's C library, for a desktop whose own is older than 2.36.

    Returns:
        The package file and its version.

    Raises:
        ImageBuildError: the archive or its keys are unavailable, or its Firefox has another layout.
        ToolError: apt or dpkg-deb failed.
    """
    scratch = workdir / "debian-firefox"
    scratch.mkdir()
    try:
        report("browser", None, f"fetching {PACKAGE} from Debian's archive")
        wanted = (PACKAGE, CODEC, *([C_LIBRARY] if with_c_library else []))
        fetched = DebianPackages(distribution, settings, scratch, report).download(wanted)
        return _rebuild(fetched, scratch, workdir / f"{PACKAGE}.deb")
    finally:
        shutil.rmtree(scratch)


def _rebuild(fetched: dict[str, Path], scratch: Path, target: Path) -> tuple[Path, str]:
    """Put the libraries next to the program, and remove the dependencies on them."""
    tree = scratch / "tree"
    run(["dpkg-deb", "--raw-extract", str(fetched[PACKAGE]), str(tree)], timeout_s=300).require()
    listed = tree / _PROGRAM / "dependentlibs.list"
    if not listed.is_file() or _MAIN_LIBRARY not in listed.read_text().split():
        raise ImageBuildError(
            f"Debian's {PACKAGE} has no {listed.name} with {_MAIN_LIBRARY}.",
            details="Its layout differs from the releases that this recipe supports.",
            resolution="Set MESOCOSM_MIRROR_MOZILLA to an archive of Mozilla's Firefox.",
        )
    codec = next(unpack(fetched[CODEC], scratch / CODEC).rglob(CODEC_LIBRARY)).resolve()
    shutil.copyfile(codec, tree / _PROGRAM / CODEC_LIBRARY)
    names = listed.read_text().split()
    names.insert(names.index(_MAIN_LIBRARY), CODEC_LIBRARY)
    listed.write_text("\n".join(names) + "\n")
    if C_LIBRARY in fetched:
        _add_c_library(tree, unpack(fetched[C_LIBRARY], scratch / C_LIBRARY))
    control = tree / "DEBIAN/control"
    patches = ["patchelf"] if C_LIBRARY in fetched else []
    text, version = adapt_control(control.read_text(), more_needs=patches)
    control.write_text(text)
    (tree / "DEBIAN/md5sums").unlink(missing_ok=True)
    argv = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(target)]
    run(argv, timeout_s=300).require()
    return target, version


def _add_c_library(tree: Path, unpacked: Path) -> None:
    """Put a C library next to the program, and patch the program at installation."""
    folder = tree / _PROGRAM / "glibc"
    folder.mkdir()
    for library in next(unpacked.rglob("libc.so.6")).parent.glob("*.so*"):
        shutil.copyfile(library, folder / library.name)
    (folder / _LOADER).chmod(0o755)
    script = tree / "DEBIAN/postinst"
    head = script.read_text() if script.is_file() else "#!/bin/sh\nset -e\n"
    script.write_text(head + _POSTINST)
    script.chmod(0o755)


def adapt_control(text: str, *, more_needs: Sequence[str] = ()) -> tuple[str, str]:
    """Rewrite a control file: its own version, and no dependency on the private libraries.

    Args:
        text: content of the control file.
        more_needs: additional dependencies.

    Returns:
        The new text and the new version.

    Raises:
        ImageBuildError: it has no version or no dependencies.
    """
    version = re.search(r"^Version: (\S+)$", text, flags=re.MULTILINE)
    depends = re.search(r"^Depends: (.+)$", text, flags=re.MULTILINE)
    if version is None or depends is None:
        raise ImageBuildError(
            f"Debian's {PACKAGE} has a control file without version or dependencies.", text
        )
    kept = list(more_needs)
    for need in depends[1].split(","):
        name = need.split()[0]
        if name != CODEC:
            kept.append(name if name in _ANY_VERSION else need.strip())
    text = text.replace(depends[0], f"Depends: {', '.join(kept)}")
    text = text.replace(version[0], f"Version: {version[1]}{VERSION_SUFFIX}")
    return text, version[1] + VERSION_SUFFIX
