"""An empty package that replaces the firmware and microcode of Ubuntu's kernel package.

They are for devices and processors that no virtual machine has, and are a third of the desktop's
size: 1.1 of 3.8 GB on Ubuntu 22.04. ``linux-image-virtual`` does not depend on them, but has no
driver for the machines' graphics card (``bochs``, which is in ``linux-modules-extra``).
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from foundation.process import run

if TYPE_CHECKING:
    from pathlib import Path

    from images.distribution import Distribution

NAME = "mesocosm-no-firmware"
_VENDORS = ("ubuntu",)
_CONTROL = f"""\
Package: {NAME}
Version: 1
Architecture: all
Maintainer: Mesocosm <mesocosm@localhost>
Provides: linux-firmware, intel-microcode, amd64-microcode
Description: no firmware, as virtual machines need none
"""


def make_firmware_package(distribution: Distribution, workdir: Path) -> Path | None:
    """Build the package for a distribution whose kernel package depends on firmware.

    Args:
        distribution: distribution of the desktop.
        workdir: output folder; may be deleted once the system is built.

    Returns:
        The package file; None if the kernel package does not depend on firmware.

    Raises:
        ToolError: dpkg-deb failed.
    """
    if distribution.vendor not in _VENDORS:
        return None
    tree, target = workdir / NAME, workdir / f"{NAME}.deb"
    control = tree / "DEBIAN/control"
    control.parent.mkdir(parents=True)
    control.write_text(_CONTROL)
    argv = ["dpkg-deb", "--root-owner-group", "--build", str(tree), str(target)]
    run(argv, timeout_s=60).require()
    shutil.rmtree(tree)
    return target
