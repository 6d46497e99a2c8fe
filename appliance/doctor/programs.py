"""Checks of the programs and services of this host."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from appliance.doctor.check import Finding, State
from appliance.services.compose import find_compose, require_compatible_compose
from appliance.services.engine import engine_answers, require_supported
from foundation.errors import MesocosmError, RequirementError
from foundation.process import find_tool, run
from images.builder import find
from images.engine import connect
from provisioning.accelerator.guest_run import QEMU

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.settings import Settings

MIN_PYTHON = (3, 11)
_INSTALL = "Run `make up`, which installs it, or `apt-get install {}`."
_ENGINE_DEADLINE_S = 4.0
# Program, Debian package.
_BUILD_TOOLS = (
    ("mkfs.ext4", "e2fsprogs"),
    ("dpkg-deb", "dpkg"),
    ("gpg", "gnupg"),
)


def check_python(settings: Settings) -> Finding:
    """Check Python's version."""
    del settings
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < MIN_PYTHON:
        return Finding(State.FAILED, f"Python is {version}.", "Install Python 3.11 or later.")
    return Finding(State.OK, f"Python {version}.")


def tool_check(program: str, package: str, *version: str) -> Callable[[Settings], Finding]:
    """Return a check of a program that must be installed.

    Args:
        program: its name.
        package: Debian package that contains it.
        version: arguments that make it print its version.
    """

    def ask(settings: Settings) -> Finding:
        del settings
        if find_tool(program) is None:
            return Finding(State.MISSING, f"{program} is not installed.", _INSTALL.format(package))
        done = run([program, *version], timeout_s=5)
        if done.exit_code != 0:
            output = (done.stderr or done.stdout).decode(errors="replace").strip()
            return Finding(
                State.FAILED,
                f"{program} does not run: {output[-200:]}",
                f"Reinstall {package}.",
            )
        return Finding(State.OK, (done.text.splitlines() or [program])[0])

    return ask


def check_build_tools(settings: Settings) -> Finding:
    """Check that the small programs that builds call are installed."""
    del settings
    lacking = [(tool, package) for tool, package in _BUILD_TOOLS if find_tool(tool) is None]
    if lacking:
        names = ", ".join(tool for tool, _ in lacking)
        packages = " ".join(package for _, package in lacking)
        return Finding(State.MISSING, f"Not installed: {names}.", _INSTALL.format(packages))
    return Finding(State.OK, f"{', '.join(tool for tool, _ in _BUILD_TOOLS)} are installed.")


def check_qemu(settings: Settings) -> Finding:
    """Look for QEMU on the host, else in the hypervisor image."""
    if find_tool(QEMU):
        done = run([QEMU, "--version"], timeout_s=5)
        return Finding(State.OK, f"{done.text.splitlines()[0]}, on the host.")
    try:
        image = find("hypervisor", settings)
    except MesocosmError:
        return Finding(
            State.WARN,
            "QEMU is not on the host, and the hypervisor image, which contains it, is not built.",
            "Run `mesocosm image build hypervisor`.",
        )
    return Finding(State.OK, f"QEMU is in {image.tag}.")


def check_docker(settings: Settings) -> Finding:
    """Query the docker engine's version."""
    del settings
    if find_tool("dockerd") is None and find_tool("docker") is None:
        return Finding(State.MISSING, "Docker is not installed.", _INSTALL.format("docker.io"))
    try:
        with connect(_ENGINE_DEADLINE_S) as client:
            version = client.version()
    except RequirementError as exc:
        details = exc.details
        if "permission denied" in details.lower():
            return Finding(
                State.FAILED,
                "The docker engine runs, but this user may not use it.",
                "Run as root, or join the group docker.",
            )
        return Finding(State.FAILED, f"{exc.brief} {details[-200:]}", exc.resolution)
    try:
        require_supported()
    except RequirementError as exc:
        return Finding(State.FAILED, exc.brief, exc.resolution)
    return Finding(
        State.OK, f"Docker engine {version['Version']} (API {version['ApiVersion']}) answers."
    )


def check_compose(settings: Settings) -> Finding:
    """Look for docker-compose 1.29 or later, or compose v2."""
    del settings
    try:
        command = find_compose()
    except MesocosmError as exc:
        return Finding(State.MISSING, exc.brief, exc.resolution)
    shown = run([*command, "version", "--short"], timeout_s=8).text
    match = re.search(r"(\d+)\.(\d+)", shown)
    name = " ".join(command)
    if engine_answers():
        try:
            require_compatible_compose()
        except RequirementError as exc:
            return Finding(State.FAILED, exc.brief, exc.resolution)
    if match and (int(match[1]), int(match[2])) < (1, 29):
        return Finding(
            State.FAILED, f"{name} {shown} is too old.", _INSTALL.format("docker-compose")
        )
    return Finding(State.OK, f"{name} {shown}.")


def check_libvirt(settings: Settings) -> Finding:
    """Connect to libvirtd in the hypervisor container."""
    try:
        import libvirt  # noqa: PLC0415
    except ImportError as exc:
        return Finding(
            State.MISSING,
            f"Cannot import Python's libvirt module: {exc}",
            "Run `make up`, which installs libvirt's libraries and the module.",
        )
    socket = settings.run_dir / "libvirt" / "libvirt-sock"
    if not socket.exists():
        return Finding(
            State.WARN,
            f"The hypervisor is not running: there is no {socket}.",
            "Run `mesocosm up`, which starts it.",
        )
    libvirt.registerErrorHandler(lambda _context, _error: None, None)
    try:
        connection = libvirt.open(settings.libvirt_uri)
        version = connection.getLibVersion()
        connection.close()
    except libvirt.libvirtError as exc:
        return Finding(
            State.WARN,
            f"The hypervisor's socket exists, but libvirtd does not answer: {exc}",
            "Run `mesocosm down` and `mesocosm up`.",
        )
    number = f"{version // 1_000_000}.{version // 1000 % 1000}.{version % 1000}"
    return Finding(State.OK, f"libvirtd {number} answers.")
