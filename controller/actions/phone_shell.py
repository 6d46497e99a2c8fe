"""Reach the shell of a phone, with words quoted by construction."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from appliance.base.errors import ActionError, InvalidActionError, MachineError

if TYPE_CHECKING:
    from appliance.base.process import CommandResult
    from provisioning.protocols import Machine

_TIMEOUT_S = 20.0

PACKAGES = {
    "Contacts": "com.google.android.contacts",
    "Settings": "com.android.settings",
    "Tasks": "com.google.android.apps.tasks",
}
"""Packages of applications by the label a user reads."""


@runtime_checkable
class HasShell(Protocol):
    """A machine whose shell can be used, as every phone's over ADB."""

    def shell(self, command: str, timeout_s: float = ...) -> CommandResult:
        """Run a command line; a non-zero exit code is a result."""
        ...


def shell_of(machine: Machine) -> HasShell:
    """Give the shell of a phone.

    Raises:
        MachineError: the machine has none.
    """
    if not isinstance(machine, HasShell):
        raise MachineError(f"{machine.info.machine_id} has no shell.")
    return machine


def run_on_phone(machine: Machine, *words: str) -> str:
    """Run one command in a phone's shell; each word is quoted.

    Returns:
        What it printed.

    Raises:
        MachineError: the machine has no shell.
        ActionError: the command failed, with its words.
    """
    result = shell_of(machine).shell(shlex.join(words), timeout_s=_TIMEOUT_S)
    if result.exit_code != 0:
        said = (result.stderr or result.stdout).decode(errors="replace").strip()
        raise ActionError(
            f"{words[0]} failed on {machine.info.machine_id}.",
            details=f"$ {shlex.join(words)}\n{said}",
        )
    return result.text


def launch(machine: Machine, name: str) -> None:
    """Bring an application of a phone to the front.

    Args:
        machine: the phone.
        name: the label a user reads, or a package.

    Raises:
        InvalidActionError: the phone has no such application.
        ActionError: it could not be started.
    """
    labels = {label.casefold(): package for label, package in PACKAGES.items()}
    package = labels.get(name.casefold(), name)
    listed = run_on_phone(machine, "pm", "list", "packages").split()
    installed = {line.removeprefix("package:") for line in listed}
    if package not in installed:
        raise InvalidActionError(
            f"The phone has no application called {name!r}.",
            resolution=f"Known: {', '.join(sorted(PACKAGES))}, or a package.",
        )
    run_on_phone(
        machine, "am", "start", "-a", "android.intent.action.MAIN",
        "-c", "android.intent.category.LAUNCHER", "-p", package,
    )  # fmt: skip
