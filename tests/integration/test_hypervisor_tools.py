"""Tests of QEMU's programs, run in real containers of the hypervisor image."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from foundation.errors import MesocosmError, ToolFailedError, ToolTimeoutError
from foundation.process import run
from foundation.settings import get_settings
from images.builder import find
from images.engine import connect
from images.hypervisor.tools import HYPERVISOR, ContainerTools, hypervisor_tools
from provisioning.accelerator.guest_run import run_in_container

if TYPE_CHECKING:
    from collections.abc import Iterator

    from images.recipe import Image

pytestmark = [pytest.mark.docker, pytest.mark.slow]

MIB = 1 << 20
TIMEOUT_S = 60.0


@pytest.fixture(scope="module")
def image() -> Image:
    try:
        return find(HYPERVISOR, get_settings())
    except MesocosmError as exc:
        pytest.skip(exc.brief)


@pytest.fixture(scope="module")
def shared(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that the tools may only read."""
    folder = tmp_path_factory.mktemp("read")
    with (folder / "raw.img").open("wb") as disk:
        disk.truncate(64 * MIB)
        disk.seek(MIB)
        disk.write(b"content")
    return folder


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("write")


@pytest.fixture(scope="module")
def tools(image: Image, output: Path, shared: Path) -> Iterator[ContainerTools]:
    with hypervisor_tools(image, output, reads=[shared]) as tools:
        assert isinstance(tools, ContainerTools)
        yield tools


def test_disk_is_converted_into_a_file_of_this_user(
    tools: ContainerTools, shared: Path, output: Path
) -> None:
    raw, disk = shared / "raw.img", output / "disk.qcow2"
    convert = ("qemu-img", "convert", "-f", "raw", "-O", "qcow2", str(raw), str(disk))
    tools.run(*convert, timeout_s=TIMEOUT_S)
    run(["qemu-img", "compare", str(raw), str(disk)]).require()
    assert disk.stat().st_uid == os.geteuid()
    assert disk.stat().st_size < MIB


def test_failure_has_the_output_of_the_program(tools: ContainerTools, shared: Path) -> None:
    with pytest.raises(ToolFailedError, match="qemu-img ended with exit code 1") as caught:
        tools.run("qemu-img", "info", str(shared / "missing.img"), timeout_s=TIMEOUT_S)
    assert "No such file" in caught.value.details
    with pytest.raises(ToolFailedError, match="no-such-program"):
        tools.run("no-such-program", timeout_s=TIMEOUT_S)


def test_folder_of_inputs_is_read_only(tools: ContainerTools, shared: Path) -> None:
    with pytest.raises(ToolFailedError) as caught:
        tools.run("touch", str(shared / "new"), timeout_s=TIMEOUT_S)
    assert "Read-only file system" in caught.value.details


def test_program_that_hangs_is_killed(tools: ContainerTools) -> None:
    with pytest.raises(ToolTimeoutError, match=r"sleep did not end within 0\.2 s"):
        tools.run("sleep", "60", timeout_s=0.2)


def test_nothing_remains_of_the_container(image: Image, output: Path) -> None:
    with hypervisor_tools(image, output) as tools:
        assert isinstance(tools, ContainerTools)
    with connect() as client:
        names = {str(container.id) for container in client.containers.list(all=True)}
    assert tools.container not in names


ABANDONED = """
import sys, threading, time
from pathlib import Path
from foundation.settings import get_settings
from images.builder import find
from images.hypervisor.tools import hypervisor_tools

def stay():
    with hypervisor_tools(find("hypervisor", get_settings()), Path(sys.argv[1])) as tools:
        print(tools.container, flush=True)
        time.sleep(600)

threading.Thread(target=stay, daemon=True).start()
time.sleep(5)
"""


def test_container_is_removed_when_its_process_ends_within_the_block(
    image: Image, output: Path
) -> None:
    """As when a check of `mesocosm doctor` takes too long, or a build is interrupted."""
    assert image.tag
    started = run([sys.executable, "-c", ABANDONED, str(output)], timeout_s=TIMEOUT_S).require()
    assert re.fullmatch("[0-9a-f]{64}", started.text)
    with connect() as client:
        assert started.text not in {str(entry.id) for entry in client.containers.list(all=True)}


def test_test_guest_runs_with_the_images_qemu(image: Image) -> None:
    assert image.tag
    ran = run_in_container(get_settings(), Path("/dev/kvm"), "tcg", boot_s=30, work_s=60)
    assert ran.output == []
    assert ran.is_complete


def test_container_ends_by_itself(image: Image, output: Path) -> None:
    """As after a SIGKILL of the process that started it."""
    with hypervisor_tools(image, output, lifetime_s=1) as tools, connect() as client:
        assert isinstance(tools, ContainerTools)
        client.containers.get(tools.container).wait(condition="removed", timeout=TIMEOUT_S)
