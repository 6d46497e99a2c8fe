from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from foundation.errors import MachineError
from foundation.process import CommandResult
from provisioning.desktop.qemu.rights import SUDOERS, grant_sudo

if TYPE_CHECKING:
    from collections.abc import Sequence


class Guest:
    """Records the commands of root; `refuses` fails."""

    def __init__(self, refuses: str = "") -> None:
        self.inputs: dict[str, bytes] = {}
        self._refuses = refuses

    def run(self, argv: Sequence[str], **options: Any) -> CommandResult:  # noqa: ANN401
        assert options["user"] == "root"
        self.inputs[" ".join(argv)] = options["input"]
        is_refused = argv[0].endswith(self._refuses) if self._refuses else False
        return CommandResult(tuple(argv), int(is_refused), b"", b"locked" * is_refused)


def test_user_gets_a_password_the_group_and_a_rule() -> None:
    guest = Guest()
    grant_sudo(guest, "user", "secret")
    assert guest.inputs == {
        "/usr/sbin/chpasswd": b"user:secret\n",
        "/usr/sbin/usermod --append --groups sudo user": b"",
        f"/usr/bin/install -m 440 /dev/stdin {SUDOERS}": b"user ALL=(ALL:ALL) ALL\n",
    }


def test_a_refusal_is_the_machines_error() -> None:
    with pytest.raises(MachineError, match="usermod") as caught:
        grant_sudo(Guest("usermod"), "user", "secret")
    assert caught.value.details == "locked"
