"""Run commands on a phone."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from foundation.errors import ActionError, InvalidActionError
from foundation.host_load import stretched

if TYPE_CHECKING:
    from provisioning.protocols import Machine

_TIMEOUT_S = 20.0

PACKAGES = {
    "Browser": "com.android.chrome",
    "Calendar": "com.google.android.calendar",
    "Camera": "com.android.camera2",
    "Clock": "com.google.android.deskclock",
    "Contacts": "com.google.android.contacts",
    "Docs": "com.google.android.apps.docs.editors.docs",
    "Drive": "com.google.android.apps.docs",
    "Files": "com.google.android.documentsui",
    "Mail": "com.google.android.gm",
    "Maps": "com.google.android.apps.maps",
    "Messages": "com.google.android.apps.messaging",
    "Notes": "com.google.android.keep",
    "Phone": "com.android.dialer",
    "Photos": "com.google.android.apps.photos",
    "Settings": "com.android.settings",
    "Tasks": "com.google.android.apps.tasks",
}
"""Packages of applications by their label on the reference phone."""


def run_on_phone(machine: Machine, *argv: str, timeout_s: float = _TIMEOUT_S) -> str:
    """Run one command on a phone.

    Args:
        machine: the phone.
        argv: the command.
        timeout_s: time limit on an idle host; a busy one stretches it.

    Returns:
        Its standard output.

    Raises:
        ActionError: the command failed; its output is in the details.
    """
    result = machine.run(argv, timeout_s=stretched(timeout_s))
    if result.exit_code != 0:
        output = (result.stderr or result.stdout).decode(errors="replace").strip()
        raise ActionError(
            f"{argv[0]} failed on {machine.info.machine_id}.",
            details=f"$ {shlex.join(argv)}\n{output}",
        )
    return result.text


def launch(machine: Machine, name: str) -> None:
    """Bring an application of a phone to the front.

    Args:
        machine: the phone.
        name: the displayed label, or a package.

    Raises:
        InvalidActionError: the phone has no such application.
        ActionError: the application could not be started.
    """
    labels = {label.casefold(): package for label, package in PACKAGES.items()}
    package = labels.get(name.casefold(), name)
    listed = run_on_phone(machine, "pm", "list", "packages").split()
    installed = {line.removeprefix("package:") for line in listed}
    if package not in installed:
        present = sorted(label for label, known in PACKAGES.items() if known in installed)
        raise InvalidActionError(
            f"The phone has no application called {name!r}.",
            resolution=f"Known: {', '.join(present)}, or a package.",
        )
    run_on_phone(
        machine, "am", "start", "-a", "android.intent.action.MAIN",
        "-c", "android.intent.category.LAUNCHER", "-p", package,
    )  # fmt: skip
