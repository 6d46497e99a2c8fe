"""A package in place of the firmware and microcode that Ubuntu's kernel package asks for.

They are for devices and processors that no virtual machine has, and a third of the desktop's size:
1.1 GB of 3.8 on Ubuntu 22.04. ``linux-image-virtual`` asks for none, but has no driver for the
machines' graphics card (``bochs``, which is in ``linux-modules-extra``).
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from appliance.base.process import run

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
    """Make the package of a distribution whose kernel package depends on firmware.

    Args:
        distribution: of the desktop.
        workdir: where the package is put; it may go once the system is made.

    Returns:
        The package's file; None where the kernel's package asks for none.

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
