"""Run mmdebstrap with the host's own archives."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.process import stream
from images.distribution import source_lines
from images.host import read_apt_options
from images.keyring import find_keyring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foundation.settings import Settings
    from images.distribution import Distribution
    from images.recipe import Report

_PHASE = re.compile(r"^I: (.*?)\.*$")
_DPKG = re.compile(r"^(Unpacking|Setting up) (\S+)")


def bootstrap(  # noqa: PLR0913  # each is needed by name
    distribution: Distribution,
    settings: Settings,
    target: Path,
    report: Report,
    *,
    packages: Sequence[str] = (),
    options: Sequence[str] = (),
    sources: Sequence[str] = (),
    variant: str = "minbase",
    timeout_s: float = 1800.0,
) -> None:
    """Create a root file system with mmdebstrap.

    Its temporary files are next to `target`, so that they are deleted with the builder's folder.

    Args:
        distribution: what to install.
        settings: may name a mirror.
        target: a ``.tar`` file or folder that does not exist yet.
        report: receives phases and each line of output.
        packages: packages to install in addition to the variant's own.
        options: additional options of mmdebstrap, such as ``--customize-hook=...``.
        sources: additional lines of ``sources.list``.
        variant: variant of mmdebstrap.
        timeout_s: time limit, after which it is killed.

    Raises:
        ToolError: mmdebstrap is missing, failed or was killed.
        ImageBuildError: no archive or no keys.
    """
    # What a killed mmdebstrap still writes is deleted with the builder's folder.
    with tempfile.TemporaryDirectory(
        prefix=".bootstrap-", dir=target.parent, ignore_cleanup_errors=True
    ) as scratch:
        keyring = find_keyring(distribution, settings, Path(scratch), report)
        argv = ["mmdebstrap", f"--variant={variant}", "--verbose", f"--keyring={keyring}"]
        if os.geteuid() == 0:
            argv.append("--mode=root")
        argv += [f"--aptopt={option}" for option in read_apt_options()]
        if packages:
            argv.append(f"--include={','.join(packages)}")
        argv += [*options, distribution.suite, str(target)]
        argv += [*source_lines(distribution, settings), *sources]
        stream(
            argv,
            on_line=_Progress(report).take,
            timeout_s=timeout_s,
            env={"TMPDIR": scratch, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
        ).require(
            "Make sure that the distribution's archive is reachable; `mesocosm doctor` checks it."
        )


class _Progress:
    """Parser of phases and package counts in mmdebstrap's verbose output."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._phase = "bootstrap"
        self._unpacked = 0
        self._set_up = 0

    def take(self, line: str) -> None:
        """Process one line."""
        fraction: float | None = None
        if match := _PHASE.match(line):
            self._phase = match[1][:40]
            self._unpacked = self._set_up = 0
        elif match := _DPKG.match(line):
            self._unpacked += match[1] == "Unpacking"
            self._set_up += match[1] == "Setting up"
            done = self._set_up / self._unpacked if self._unpacked else 0.0
            fraction = min(1.0, done)
        self._report(self._phase, fraction, line)
