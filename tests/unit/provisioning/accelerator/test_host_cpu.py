from __future__ import annotations

import os
from typing import TYPE_CHECKING

from provisioning.accelerator.host_cpu import HostCpu, read_host_cpu

if TYPE_CHECKING:
    from pathlib import Path

CPUINFO = """\
processor\t: 0
model name\t: AMD EPYC 9R14
microcode\t: 0xa101148
flags\t\t: vme fpu svm
bugs\t\t:
processor\t: 1
model name\t: another
"""


def test_first_cpu_and_the_kernel_are_read(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(CPUINFO)
    assert read_host_cpu(file) == HostCpu(
        model="AMD EPYC 9R14",
        flags=("fpu", "svm", "vme"),
        microcode="0xa101148",
        kernel=os.uname().release,
    )


def test_fields_that_the_kernel_leaves_out_are_empty(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("bugs\t\t:\n")
    assert read_host_cpu(file).flags == ()
    assert read_host_cpu(tmp_path / "none").model == ""
