"""The session user, and a clean environment for running programs as that user."""

from __future__ import annotations

import os
import pwd
from typing import Any, NamedTuple

CLEAN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games"
ENVIRONMENT_FILE = "/etc/environment"
_MAX_BYTES = 65536


class Identity(NamedTuple):
    """A user under which programs are started.

    Attributes:
        name: login name.
        uid: user ID.
        gid: primary group ID.
        home: home folder.
        shell: login shell.
    """

    name: str
    uid: int
    gid: int
    home: str
    shell: str

    @classmethod
    def of(cls, name: str) -> Identity:
        """Look up a user by name.

        Raises:
            KeyError: there is no such user.
        """
        entry = pwd.getpwnam(name)
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid, entry.pw_dir, entry.pw_shell)

    @classmethod
    def own(cls) -> Identity:
        """Return the user of this process."""
        return cls.of(pwd.getpwuid(os.getuid()).pw_name)

    def environment(self) -> dict[str, str]:
        """Return a minimal environment that is independent of user settings."""
        return {
            "HOME": self.home,
            "LANG": "C.UTF-8",
            "LOGNAME": self.name,
            "PATH": CLEAN_PATH,
            "SHELL": self.shell,
            "USER": self.name,
        }

    def popen_arguments(self) -> dict[str, Any]:
        """Return the arguments of `subprocess.Popen` that start a program as this user."""
        if self.uid == os.getuid():
            return {}
        groups = os.getgrouplist(self.name, self.gid)
        return {"user": self.uid, "group": self.gid, "extra_groups": groups}

    def become(self) -> None:
        """Permanently switch this process to the user."""
        if self.uid != os.getuid():
            os.initgroups(self.name, self.gid)
            os.setgid(self.gid)
            os.setuid(self.uid)


def read_environment(path: str = ENVIRONMENT_FILE) -> dict[str, str]:
    """Return the variables that every login gets; empty if there is no such file.

    They configure toolkits for drawing without a graphics card: a program started without them may
    never show its window. Source: pam_env(8).
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(_MAX_BYTES).splitlines()
    except OSError:
        return {}
    variables = {}
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            variables[name.strip()] = value.strip().strip("'\"")
    return variables


def default_user() -> str:
    """Return the session user: ``user``, or the probe's own user if ``user`` does not exist."""
    try:
        return Identity.of("user").name
    except KeyError:
        return Identity.own().name
