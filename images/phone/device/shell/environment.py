"""The environment of commands: paths, variables, processes, Android's own commands."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from images.phone.device.commands.catalog import Commands
    from images.phone.device.config import DeviceConfig
    from images.phone.device.processes import Processes

SHELL = "/system/bin/sh" if Path("/system/bin/sh").exists() else "/bin/sh"
"""Android's path in the phone's own root, and the host's."""

_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class ShellEnvironment:
    """What a shell session needs.

    Attributes:
        config: configuration of the phone.
        processes: starts them.
        commands: Android's commands, executed by the daemon.
    """

    config: DeviceConfig
    processes: Processes
    commands: Commands

    def variables(self, terminal: str = "") -> dict[str, str]:
        """Return the environment of a new shell, which inherits nothing from the daemon.

        Args:
            terminal: type of the terminal; empty for none.
        """
        root = str(self.config.root).rstrip("/")
        values = {
            "PATH": f"{self.config.commands_dir}:{_SYSTEM_PATH}",
            "HOME": f"{root}/data/local/tmp",
            "TMPDIR": f"{root}/data/local/tmp",
            "EXTERNAL_STORAGE": f"{root}/sdcard",
            "ANDROID_ROOT": "/system",
            "ANDROID_DATA": f"{root}/data",
            "SHELL": SHELL,
            "USER": "shell",
            "LOGNAME": "shell",
            "HOSTNAME": self.config.name,
            "LANG": "C.UTF-8",
            "PS1": f"{self.config.name}:$PWD $ ",
        }
        if terminal:
            values["TERM"] = terminal
        if zone := os.environ.get("TZ"):
            values["TZ"] = zone
        return values
