"""A desktop's system: packages, users, scheduled jobs, name, time zone, shell history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.reading import lines_of, link_target

if TYPE_CHECKING:
    from provisioning.probe.guest import Guest

_STATUS = "/var/lib/dpkg/status"
_MAX_STATUS_BYTES = 1 << 25
_INSTALLED = ("install ok installed", "hold ok installed")
_ZONES = "/usr/share/zoneinfo/"
_CRON_FIELDS = 5


@evaluator(on="desktop")
def package_installed(guest: Guest, name: str, version: str = "") -> bool:
    """Return whether a Debian package is installed; a removed or half-installed one is not.

    Source: dpkg's status file, ``/var/lib/dpkg/status``.

    Example:
        ``{on: desktop, check: package_installed, with: {name: gimp}}``

    Args:
        guest: the desktop.
        name: of the package.
        version: the whole version; any when empty.
    """
    packages = _packages(guest)
    return name in packages and version in {"", packages[name]}


@evaluator(on="desktop")
def package_absent(guest: Guest, name: str) -> bool:
    """Return whether a Debian package is not installed.

    A missing or empty list of packages makes the result inconclusive.

    Example:
        ``{on: desktop, check: package_absent, with: {name: gnome-calculator}}``

    Args:
        guest: the desktop.
        name: of the package.

    Raises:
        ValueError: there is no list of packages.
    """
    packages = _packages(guest)
    if not packages:
        raise ValueError(f"{_STATUS} lists no package")
    return name not in packages


@evaluator(on="desktop")
def user_exists(guest: Guest, name: str, shell: str = "", home: str = "") -> bool:
    """Return whether there is a user with this name, and with a shell and home folder if given.

    Example:
        ``{on: desktop, check: user_exists, with: {name: bob, shell: /bin/bash}}``

    Args:
        guest: the desktop.
        name: login name.
        shell: path of the login shell; any when empty.
        home: path of the home folder; any when empty.
    """
    return any(
        row[0] == name and shell in {"", row[6]} and home in {"", row[5]}
        for row in _rows(guest, "/etc/passwd", 7)
    )


@evaluator(on="desktop")
def user_in_group(guest: Guest, user: str, group: str) -> bool:
    """Return whether a user is in a group, primary or supplementary.

    Example:
        ``{on: desktop, check: user_in_group, with: {user: bob, group: audio}}``

    Args:
        guest: the desktop.
        user: login name of an existing user.
        group: name of the group.
    """
    first = {row[3] for row in _rows(guest, "/etc/passwd", 7) if row[0] == user}
    return bool(first) and any(
        row[0] == group and (row[2] in first or user in row[3].split(","))
        for row in _rows(guest, "/etc/group", 4)
    )


@evaluator(on="desktop")
def cron_has_job(guest: Guest, schedule: str, command: str, user: str = "") -> bool:
    """Return whether a user's crontab runs a command at these times.

    Comments are ignored. Times are compared as written: ``0 8 * * *`` is not ``00 8 * * *``.

    Example:
        ``{on: desktop, check: cron_has_job, with: {schedule: 0 8 * * *, command: /usr/bin/backup}}``

    Args:
        guest: the desktop.
        schedule: five fields, or a word such as ``@daily``.
        command: the rest of the line; white space around it is ignored.
        user: login name; the agent's user when empty.

    Raises:
        ValueError: `schedule` has neither five fields nor one word.
    """
    fields = schedule.split()
    if len(fields) != (1 if schedule.startswith("@") else _CRON_FIELDS):
        raise ValueError("a schedule must be five fields, or a word that begins with @")
    lines = lines_of(guest, f"/var/spool/cron/crontabs/{user or guest.user}")
    return any(
        [*line.split(None, len(fields))] == [*fields, command.strip()]
        for line in map(str.strip, lines)
        if not line.startswith("#")
    )


@evaluator(on="desktop")
def hostname_is(guest: Guest, name: str) -> bool:
    """Return whether the configured host name, used after the next boot, is this.

    Example:
        ``{on: desktop, check: hostname_is, with: {name: atelier}}``

    Args:
        guest: the desktop.
        name: the content of ``/etc/hostname``, without comments.
    """
    lines = lines_of(guest, "/etc/hostname")
    return [line.strip() for line in lines if line.strip() and line[0] != "#"] == [name]


@evaluator(on="desktop")
def timezone_is(guest: Guest, zone: str) -> bool:
    """Return whether the system's time zone is this one.

    Example:
        ``{on: desktop, check: timezone_is, with: {zone: Europe/Zurich}}``

    Args:
        guest: the desktop.
        zone: its name in the tz database; an alias of the zone is unmet.
    """
    target = link_target(guest, "/etc/localtime")
    return bool(zone) and target in {_ZONES + zone, f"..{_ZONES}{zone}"}


@evaluator(on="desktop")
def shell_history_has(guest: Guest, command: str) -> bool:
    """Return whether the user's bash history has exactly this command as a line.

    Bash writes it when a shell exits. The user can edit it like any other file: check what the
    command has done as well.

    Example:
        ``{on: desktop, check: shell_history_has, with: {command: ls -l}}``

    Args:
        guest: the desktop.
        command: the whole line; white space around it is ignored.
    """
    lines = lines_of(guest, "~/.bash_history")
    return bool(command.strip()) and command.strip() in {
        line.strip() for line in lines if not line.startswith("#")
    }


def _packages(guest: Guest) -> dict[str, str | None]:
    """Return the versions of the installed packages, by name."""
    found: dict[str, str | None] = {}
    fields: dict[str, str] = {}
    for line in [*lines_of(guest, _STATUS, _MAX_STATUS_BYTES), ""]:
        name, _, value = line.partition(": ")
        fields[name] = value
        if not line:
            if fields.get("Status") in _INSTALLED and "Package" in fields:
                found[fields["Package"]] = fields.get("Version")
            fields = {}
    return found


def _rows(guest: Guest, path: str, width: int) -> list[list[str]]:
    lines = lines_of(guest, path)
    return [row for row in (line.split(":") for line in lines) if len(row) == width]
