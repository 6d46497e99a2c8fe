"""Configuration of one phone: folders, keys, ports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SHARED_FOLDERS = ("data/media/0", "data/local/tmp")
"""Folders that belong to the phone's state, from the phone's root."""

_FOLDERS = ("Download", "Pictures", "Documents", "DCIM")


@dataclass(frozen=True)
class DeviceConfig:
    """Settings of the daemon.

    Attributes:
        root: the folder that tools see as ``/``: the container's own, or any folder.
        state_dir: holds the state's database and the snapshots.
        commands_dir: holds the executables of Android's commands.
        address: to listen on.
        adb_port: of ADB; 0 takes a free one.
        console_port: of the console; 0 takes a free one.
        keys: known public keys, as lines of ``adbkey.pub``.
        keys_file: a file with more of them, read at each connection.
        token: what the console's ``auth`` wants.
        name: of the phone, as ``avd name`` prints it.
    """

    root: Path
    state_dir: Path
    commands_dir: Path
    address: str = "127.0.0.1"
    adb_port: int = 0
    console_port: int = 0
    keys: tuple[str, ...] = ()
    keys_file: Path | None = None
    token: str = ""
    name: str = "reference_phone"

    @property
    def database(self) -> Path:
        """The one file that holds the whole state."""
        return self.state_dir / "phone.db"

    @property
    def snapshots_dir(self) -> Path:
        """One entry a snapshot."""
        return self.state_dir / "snapshots"

    @property
    def socket(self) -> Path:
        """Where Android's commands reach the daemon."""
        return self.state_dir / "control.sock"

    def key_lines(self) -> list[str]:
        """Return the lines of all known keys."""
        lines = list(self.keys)
        if self.keys_file is not None and self.keys_file.is_file():
            lines += self.keys_file.read_text(errors="replace").splitlines()
        return lines

    def resolve(self, path: str) -> Path:
        """Return the real path of a phone's path; links of the phone's own root are followed.

        Raises:
            ValueError: it is no path.
        """
        if "\0" in path:
            raise ValueError("a path without NUL is needed")
        return self.root / path.lstrip("/") if path.startswith("/") else self.root / path

    def make_folders(self) -> None:
        """Make the folders a phone has."""
        for folder in (self.state_dir, self.snapshots_dir, self.commands_dir):
            folder.mkdir(parents=True, exist_ok=True)
        for name in SHARED_FOLDERS:
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for name in _FOLDERS:
            (self.root / SHARED_FOLDERS[0] / name).mkdir(exist_ok=True)
        card = self.root / "sdcard"
        if not card.is_symlink() and not card.exists():
            card.symlink_to(Path(SHARED_FOLDERS[0]))
