"""Checks that every custom image must pass; pytest runs them against one of its machines."""

from __future__ import annotations

import re
from typing import Any

Host = Any
_PRIVILEGED = {"sudo", "adm", "root", "docker", "disk", "shadow", "wheel", "lxd"}
_UPDATERS = ("apt-daily", "unattended-upgrade", "packagekit", "fwupd", "snapd", "gnome-software")
_USER, _SSH = "user", 22


def test_the_agents_user_has_no_rights(host: Host) -> None:
    """Verify that it has no password, no privileged group and no rule of sudo."""
    user = host.user(_USER)
    assert user.uid == 1000  # noqa: PLR2004
    assert not _PRIVILEGED & set(user.groups)
    assert user.password in {"!", "*", "!*"}
    listed = host.run(f"sudo -n -l -U {_USER}")
    assert "not allowed to run sudo" in listed.stdout


def test_the_agents_user_cannot_become_root(desktop: Host) -> None:
    """Verify that the programs that change the user refuse."""
    assert desktop.run("sudo -n true").rc != 0
    assert desktop.run("echo | su -c true").rc != 0
    assert desktop.run("pkexec --disable-internal-agent true").rc != 0


def test_nothing_listens_but_ssh(host: Host) -> None:
    """Verify that no program accepts connections from outside the machine."""
    listed = host.check_output("ss -Hltn").splitlines()
    ports = {
        int(address.rpartition(":")[2])
        for address in (line.split()[3] for line in listed)
        if not re.match(r"127\.|\[::1\]|\[::ffff:127\.", address)
    }
    assert ports <= {_SSH}


def test_no_updater_runs(host: Host) -> None:
    """Verify that no program would change the machine in the background."""
    processes = host.check_output("ps -eo args=").splitlines()
    running = [line for line in processes if any(name in line for name in _UPDATERS)]
    assert running == []
    timers = host.check_output("systemctl list-timers --no-legend --plain || true")
    assert not any(name in timers for name in _UPDATERS)


def test_programs_are_accessible(desktop: Host) -> None:
    """Verify that programs expose their accessible tree."""
    value = desktop.check_output("gsettings get org.gnome.desktop.interface toolkit-accessibility")
    assert value.strip() == "true"
