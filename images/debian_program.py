"""A program of Debian's for an Ubuntu desktop, with private copies of libraries that only Debian has.

Ubuntu has no package of some programs, only snaps, which need a network and a daemon. Debian's
package depends on libraries that Ubuntu does not have, or has only in older versions. They are
installed in the program's own folder, where nothing else finds them: at installation the guest's
patchelf writes the folder into the program. Source: ld.so(8), ``DT_RPATH``; patchelf(1).
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError, UnknownNameError
from foundation.process import run
from images.debian_packages import (
    VERSION_SUFFIX,
    DebianPackages,
    Relation,
    read_installed,
    read_relations,
    show_relations,
    unpack,
)
from images.distribution import DISTRIBUTIONS, FALLBACK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Report

C_LIBRARY = "libc6"
_LIBRARIES = "mesocosm-libraries"


@dataclass(frozen=True, slots=True)
class Program:
    """A program of Debian's that Ubuntu only has as a snap.

    Attributes:
        package: Debian's package.
        executable: its executable, relative to the root.
        more: packages of the same source that belong to it without being dependencies.
    """

    package: str
    executable: str
    more: tuple[str, ...] = ()


PROGRAMS = {
    "chromium": Program("chromium", "usr/lib/chromium/chromium", ("chromium-sandbox",)),
}
"""By name."""


@dataclass(slots=True)
class Closure:
    """What a program takes from Debian, and what it needs of the system.

    Attributes:
        parts: packages of the program's own source.
        libraries: packages whose libraries become private.
        kept: dependencies that the system meets, or its own archive can.
    """

    parts: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    kept: list[list[Relation]] = field(default_factory=list)


def get_program(name: str) -> Program:
    """Return a program of the table.

    Raises:
        UnknownNameError: it is not in the table.
    """
    if name not in PROGRAMS:
        raise UnknownNameError.of("program of Debian's", name, list(PROGRAMS))
    return PROGRAMS[name]


def make_debian_program(
    program: Program,
    status: str,
    settings: Settings,
    workdir: Path,
    report: Report,
    *,
    distribution: Distribution = DISTRIBUTIONS[FALLBACK],
) -> tuple[Path, str]:
    """Build a package of a program of Debian's that installs on an Ubuntu desktop.

    Args:
        program: program to build.
        status: content of the desktop's ``/var/lib/dpkg/status``.
        settings: may name Debian's mirror.
        workdir: output folder.
        report: receives progress.
        distribution: the Debian release that the program is taken from.

    Returns:
        The package file and its version.

    Raises:
        ImageBuildError: the archive's keys are unavailable, or the program needs a newer C library.
        ToolError: apt or dpkg-deb failed.
    """
    scratch = workdir / f"debian-{program.package}"
    scratch.mkdir()
    try:
        report(program.package, None, "reading Debian's archive")
        archive = DebianPackages(distribution, settings, scratch, report)
        closure = find_closure(program, read_installed(status), archive.describe)
        report(program.package, None, f"fetching it and {len(closure.libraries)} libraries")
        fetched = archive.download([*closure.parts, *closure.libraries])
        return _assemble(program, closure, fetched, scratch, workdir)
    finally:
        shutil.rmtree(scratch)


def find_closure(
    program: Program, versions: Mapping[str, str], describe: Callable[[str], dict[str, str]]
) -> Closure:
    """Return the packages that a program needs and a system does not have.

    Args:
        program: program to install.
        versions: versions of the system's packages, by name.
        describe: returns the control fields of one of Debian's packages.

    Raises:
        ImageBuildError: one needs a newer C library, which cannot be private to a program.
    """
    closure = Closure()
    waiting = [program.package, *program.more]
    source = ""
    while waiting:
        name = waiting.pop(0)
        if name in closure.parts or name in closure.libraries:
            continue
        fields = describe(name)
        origin = fields.get("Source", name).split()[0]
        source = source or origin
        is_part = origin == source
        (closure.parts if is_part else closure.libraries).append(name)
        for need in read_relations(f"{fields.get('Pre-Depends', '')},{fields.get('Depends', '')}"):
            wanted = need[0].name
            if any(one.is_met(versions) for one in need) or not _is_private(
                wanted, describe, source
            ):
                if need not in closure.kept:
                    closure.kept.append(need)
            elif wanted == C_LIBRARY:
                raise ImageBuildError(
                    f"Debian's {name} needs {show_relations([need])}; the desktop has "
                    f"{versions.get(C_LIBRARY, 'none')}.",
                    resolution="Set MESOCOSM_DISTRIBUTION to a newer distribution, or to debian-12.",
                )
            else:
                waiting.append(wanted)
    return closure


def _is_private(name: str, describe: Callable[[str], dict[str, str]], source: str) -> bool:
    """Return whether a package is a library or a part of the program: others come from Ubuntu."""
    fields = describe(name)
    return (
        fields.get("Section", "").endswith("libs")
        or fields.get("Source", name).split()[0] == source
    )


def _assemble(
    program: Program, closure: Closure, fetched: dict[str, Path], scratch: Path, workdir: Path
) -> tuple[Path, str]:
    """Put parts and libraries into one package."""
    tree = scratch / "tree"
    main = fetched[program.package]
    run(["dpkg-deb", "--raw-extract", str(main), str(tree)], timeout_s=300).require()
    for name in closure.parts:
        if name != program.package:
            unpack(fetched[name], tree)
    if not (tree / program.executable).is_file():
        raise ImageBuildError(
            f"Debian's {program.package} has no /{program.executable}.",
            details="Its layout differs from the releases that this recipe supports.",
        )
    private = (tree / program.executable).parent / _LIBRARIES
    private.mkdir()
    for name in closure.libraries:
        for library in unpack(fetched[name], scratch / name).rglob("*.so.*"):
            shutil.copy2(library, private / library.name, follow_symlinks=False)
    control = tree / "DEBIAN/control"
    text, version = _adapt_control(control.read_text(), program, closure)
    control.write_text(text)
    (tree / "DEBIAN/md5sums").unlink(missing_ok=True)
    script = tree / "DEBIAN/postinst"
    head, _, rest = (script.read_text() if script.is_file() else "#!/bin/sh\n").partition("\n")
    script.write_text(
        f"{head}\nset -e\n"
        f"patchelf --force-rpath --set-rpath '$ORIGIN/{_LIBRARIES}' /{program.executable}\n{rest}"
    )
    script.chmod(0o755)
    target = workdir / f"{program.package}.deb"
    argv = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(target)]
    run(argv, timeout_s=300).require()
    return target, version


def _adapt_control(text: str, program: Program, closure: Closure) -> tuple[str, str]:
    """Rewrite a control file: its own version and dependencies, and what it now contains."""
    version = re.search(r"^Version: (\S+)$", text, flags=re.MULTILINE)
    depends = re.search(r"^Depends: .+$", text, flags=re.MULTILINE)
    if version is None or depends is None:
        raise ImageBuildError(
            f"Debian's {program.package} has a control file without version or dependencies.", text
        )
    needs = show_relations([*closure.kept, [Relation("patchelf")]])
    parts = [name for name in closure.parts if name != program.package]
    lines = [f"Depends: {needs}"]
    lines += [
        f"{key}: {', '.join(parts)}" for key in ("Provides", "Conflicts", "Replaces") if parts
    ]
    text = re.sub(
        r"^(?:Recommends|Provides|Conflicts|Replaces): .+\n", "", text, flags=re.MULTILINE
    )
    text = text.replace(depends[0], "\n".join(lines))
    text = text.replace(version[0], f"Version: {version[1]}{VERSION_SUFFIX}")
    return text, version[1] + VERSION_SUFFIX
