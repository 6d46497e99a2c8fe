"""Rights of a guest's user, until the next reset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Commands

ROOT = "root"
SUDOERS = "/etc/sudoers.d/mesocosm"
_TIMEOUT_S = 60.0


def grant_sudo(commands: Commands, user: str, password: str) -> None:
    """Give a user a password and all rights of sudo; nothing here takes them back but a reset.

    The group is for dialogs that ask for an administrator's password. sudo itself reads a running
    session's groups, which do not change, so it gets a rule of its own.

    Args:
        commands: runs programs as root.
        user: login name.
        password: its new password.

    Raises:
        MachineError: the guest refused.
        LinkError: the guest does not answer.
    """
    rule = f"{user} ALL=(ALL:ALL) ALL\n"
    _run(commands, ["/usr/sbin/chpasswd"], f"{user}:{password}\n")
    _run(commands, ["/usr/sbin/usermod", "--append", "--groups", "sudo", user])
    _run(commands, ["/usr/bin/install", "-m", "440", "/dev/stdin", SUDOERS], rule)


def _run(commands: Commands, argv: Sequence[str], text: str = "") -> None:
    result = commands.run(argv, user=ROOT, timeout_s=_TIMEOUT_S, input=text.encode(), cwd="/")
    if result.exit_code != 0:
        raise MachineError(
            f"The guest did not change the rights of its user: {argv[0]}.",
            details=result.stderr.decode(errors="replace"),
        )
