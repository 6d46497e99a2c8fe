"""Evaluators of a desktop's system: packages, users, scheduled jobs, host name, time zone, shell history."""

from __future__ import annotations

import os
import posixpath
import shlex
from typing import TYPE_CHECKING, NamedTuple

from evaluators.decorators import MachinePath, evaluator
from evaluators.desktop.crontab import jobs_in, read_schedule
from evaluators.desktop.history import commands_in
from evaluators.desktop.reading import lines_of, link_target, look, read_text, sha256_of

if TYPE_CHECKING:
    from evaluators.desktop.crontab import Job
    from provisioning.probe.guest import Guest

_STATUS = "/var/lib/dpkg/status"
_MAX_STATUS_BYTES = 1 << 25
_GONE = ("not-installed", "config-files")
_ZONES = "/usr/share/zoneinfo/"
_LINKS = "/usr/share/zoneinfo/tzdata.zi"
_CRONTABS = "/var/spool/cron/crontabs"


class Package(NamedTuple):
    """Record of a package in dpkg's status file.

    Attributes:
        version: version; empty if there is none.
        is_sound: whether dpkg reports no problem.
        state: state, such as ``installed``; empty if the record is malformed.
    """

    version: str
    is_sound: bool
    state: str


@evaluator(on="desktop")
def package_installed(guest: Guest, name: str, version: str = "") -> bool:
    """Return whether the given Debian package is installed.

    Proves the state, not who caused it.

    Source: dpkg's status file, ``/var/lib/dpkg/status``.

    Example:
        ``{on: desktop, check: package_installed, with: {name: gimp}}``

    Args:
        guest: the desktop.
        name: name of the package.
        version: the complete version; empty matches any.
    """
    return any(
        package.is_sound and package.state == "installed" and version in {"", package.version}
        for package in _packages(guest).get(name, ())
    )


@evaluator(on="desktop")
def package_absent(guest: Guest, name: str) -> bool:
    """Return whether the given Debian package is not installed.

    A package that is only selected for removal, or whose removal was interrupted, counts as
    installed. If the list of packages is missing or empty, the result is inconclusive. Proves the
    state, not who caused it.

    Example:
        ``{on: desktop, check: package_absent, with: {name: gnome-calculator}}``

    Args:
        guest: the desktop.
        name: name of the package.

    Raises:
        ValueError: the list of packages is missing or empty.
    """
    packages = _packages(guest)
    if not packages:
        raise ValueError(f"{_STATUS} does not list any packages")
    return all(package.state in _GONE for package in packages.get(name, ()))


@evaluator(on="desktop")
def user_exists(guest: Guest, name: str, shell: MachinePath = "", home: MachinePath = "") -> bool:
    """Return whether a user with the given name exists, with the given shell and home folder, if any.

    If several entries have the same name, the first counts, as for the system. Proves the state,
    not who caused it.

    Example:
        ``{on: desktop, check: user_exists, with: {name: bob, shell: /bin/bash}}``

    Args:
        guest: the desktop.
        name: login name.
        shell: path of the login shell; ``/usr/bin`` equals ``/bin``; empty matches any.
        home: path of the home folder; empty matches any.
    """
    row = _row(guest, "/etc/passwd", 7, name)
    return (
        row is not None
        and (not shell or _path(shell) == _path(row[6]))
        and (not home or _path(home) == _path(row[5]))
    )


@evaluator(on="desktop")
def user_in_group(guest: Guest, user: str, group: str) -> bool:
    """Return whether a user is in the given group, primary or supplementary.

    If several entries have the same name, the first counts, as for the system. Proves the state,
    not who caused it.

    Example:
        ``{on: desktop, check: user_in_group, with: {user: bob, group: audio}}``

    Args:
        guest: the desktop.
        user: login name of an existing user.
        group: name of the group.
    """
    account, group_row = _row(guest, "/etc/passwd", 7, user), _row(guest, "/etc/group", 4, group)
    if account is None or group_row is None:
        return False
    members = {
        part
        for row in _rows(guest, "/etc/group", 4)
        if row[2] == group_row[2]
        for part in row[3].split(",")
    }
    return account[3] == group_row[2] or user in members


@evaluator(on="desktop")
def cron_has_job(guest: Guest, schedule: str, command: str, user: str = "") -> bool:
    """Return whether a user's crontab runs the given command on the given schedule.

    Schedules are compared by meaning: ``@daily`` equals ``00 0 * * *``, ``mon-fri`` equals ``1-5``.
    Comments are ignored, as are lines after a ``SHELL`` that is not a shell or a variable that
    gives shells other code (such as ``BASH_ENV``), and a bare program name after a ``PATH`` that
    contains neither the program nor the system's folders. A crontab that belongs to another user,
    or has a line that cron cannot read, is ignored, as by cron. The program that a name refers to,
    and its effects, are not checked. Proves
    the state, not who caused it.

    Example:
        ``{on: desktop, check: cron_has_job, with: {schedule: 0 8 * * *, command: /usr/bin/backup}}``

    Args:
        guest: the desktop.
        schedule: five fields, or a word such as ``@daily``.
        command: the rest of the line; surrounding white space is ignored.
        user: login name; empty for the agent's user.

    Raises:
        ValueError: `schedule` is invalid.
    """
    wanted = read_schedule(" ".join(schedule.split()))
    if not wanted:
        raise ValueError("a schedule must be five fields, or a word that begins with @")
    name = user or guest.user
    path = f"{_CRONTABS}/{name}"
    jobs = jobs_in(read_text(guest, path) or "")
    return _is_own(guest, path, name) and any(
        job.schedule == wanted and job.command == command.strip() and _is_found(guest, job)
        for job in jobs
    )


@evaluator(on="desktop")
def hostname_is(guest: Guest, name: str) -> bool:
    """Return whether the configured host name, which takes effect at the next boot, is the given one.

    Letter case is ignored. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: hostname_is, with: {name: atelier}}``

    Args:
        guest: the desktop.
        name: the content of ``/etc/hostname``, without comments.
    """
    lines = (line.strip() for line in lines_of(guest, "/etc/hostname"))
    return [line.lower() for line in lines if line and line[0] != "#"] == [name.lower()]


@evaluator(on="desktop")
def timezone_is(guest: Guest, zone: str) -> bool:
    """Return whether the system's time zone is the given one.

    A zone that the system does not have is unmet, because the system then uses UTC. A copy of the
    zone's file is equivalent to a link. Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: timezone_is, with: {zone: Europe/Zurich}}``

    Args:
        guest: the desktop.
        zone: name or alias in the tz database.
    """
    target = link_target(guest, "/etc/localtime")
    if target is None:
        digest = sha256_of(guest, "/etc/localtime")
        return digest is not None and digest == sha256_of(guest, _ZONES + _zone(guest, zone))
    full = posixpath.normpath(posixpath.join("/etc", target))
    own = full.removeprefix(_ZONES).removeprefix("posix/")
    is_known = full.startswith(_ZONES) and os.path.isfile(guest.path(full))  # noqa: PTH113
    return is_known and _zone(guest, own) == _zone(guest, zone)


@evaluator(on="desktop")
def shell_history_has(guest: Guest, command: str) -> bool:
    """Return whether the user's bash history has the given command as a line.

    Spaces between words are ignored. Lines in a here document, a quoted text or a body (``if``,
    loops, braces), or after a backslash, do not count as commands. Bash writes the history when a
    shell exits; the user can edit it like any other file, so also check the effects of the command.
    Proves the state, not who caused it.

    Example:
        ``{on: desktop, check: shell_history_has, with: {command: ls -l}}``

    Args:
        guest: the desktop.
        command: the complete line.
    """
    wanted = _words(command)
    commands = commands_in(lines_of(guest, "~/.bash_history"))
    return bool(wanted) and any(_words(line) == wanted for line in commands)


def _is_own(guest: Guest, path: str, name: str) -> bool:
    """Return whether a file belongs to the user with a name, or no such user exists."""
    status, account = look(guest, path), _row(guest, "/etc/passwd", 7, name)
    return status is not None and (account is None or status.st_uid == int(account[2]))


def _is_found(guest: Guest, job: Job) -> bool:
    """Return whether a job's program is on its ``PATH``; True without a ``PATH``."""
    folders = job.path.split(":")
    if not job.path or "/" in job.program or not {"/bin", "/usr/bin"}.isdisjoint(folders):
        return True
    places = (guest.path(f"{folder}/{job.program}") for folder in folders if folder.startswith("/"))
    return bool(job.program) and any(os.access(place, os.X_OK) for place in places)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, posix=False)
    except ValueError:
        return line.split()


def _zone(guest: Guest, name: str) -> str:
    """Return the canonical name of a zone in the tz database, or the name itself."""
    rows = (line.split() for line in lines_of(guest, _LINKS))
    aliases = {row[2]: row[1] for row in rows if row[:1] == ["L"] and row[2:]}
    return aliases.get(name, name)


def _packages(guest: Guest) -> dict[str, list[Package]]:
    """Return dpkg's records of packages, by name, with one for each architecture."""
    packages: dict[str, list[Package]] = {}
    fields: dict[str, str] = {}
    for line in [*lines_of(guest, _STATUS, _MAX_STATUS_BYTES), ""]:
        name, _, value = line.partition(": ")
        fields[name] = value
        if not line:
            status = [*fields.get("Status", "").split(), "", "", ""]
            package = Package(fields.get("Version", ""), status[1] == "ok", status[2])
            if "Package" in fields:
                packages.setdefault(fields["Package"], []).append(package)
            fields = {}
    return packages


def _row(guest: Guest, path: str, width: int, name: str) -> list[str] | None:
    return next((row for row in _rows(guest, path, width) if row[0] == name), None)


def _rows(guest: Guest, path: str, width: int) -> list[list[str]]:
    """Return the valid entries of a list of users or groups; the third field must be a number."""
    rows = (line.split(":") for line in lines_of(guest, path))
    return [row for row in rows if len(row) == width and row[2].isascii() and row[2].isdigit()]


def _path(path: str) -> str:
    """Return a normalised path; program folders below ``/usr`` are replaced by those at the root."""
    full = posixpath.normpath(path)
    return full.removeprefix("/usr") if full.startswith(("/usr/bin/", "/usr/sbin/")) else full
