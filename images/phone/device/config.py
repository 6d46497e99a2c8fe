"""Configuration of one phone: folders, keys, ports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SHARED_FOLDERS = ("data/media/0", "data/local/tmp")
"""Folders that belong to the phone's state, relative to the phone's root."""

_FOLDERS = ("Download", "Pictures", "Documents", "DCIM")


@dataclass(frozen=True)
class DeviceConfig:
    """Settings of the daemon.

    Attributes:
        root: the folder that tools see as ``/``: the container's own, or any folder.
        state_dir: folder of the state's database and the snapshots.
        commands_dir: folder of the executables of Android's commands.
        address: listen address.
        adb_port: port of ADB; 0 for any free port.
        console_port: port of the console; 0 for any free port.
        keys: known public keys, as lines of ``adbkey.pub``.
        keys_file: file with additional keys, read at each connection.
        token: token for the console's ``auth``.
        name: name of the phone, as printed by ``avd name``.
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
        """The database file with the whole state."""
        return self.state_dir / "phone.db"

    @property
    def snapshots_dir(self) -> Path:
        """The folder with one entry per snapshot."""
        return self.state_dir / "snapshots"

    @property
    def socket(self) -> Path:
        """The socket on which Android's commands reach the daemon."""
        return self.state_dir / "control.sock"

    def key_lines(self) -> list[str]:
        """Return the lines of all known keys."""
        lines = list(self.keys)
        if self.keys_file is not None and self.keys_file.is_file():
            lines += self.keys_file.read_text(errors="replace").splitlines()
        return lines

    def resolve(self, path: str) -> Path:
        """Return the real path of a phone's path, following links within the phone's root.

        Raises:
            ValueError: the path is invalid.
        """
        if "\0" in path:
            raise ValueError("the path must not contain NUL")
        return self.root / path.lstrip("/") if path.startswith("/") else self.root / path

    def make_folders(self) -> None:
        """Create the folders of a phone."""
        for folder in (self.state_dir, self.snapshots_dir, self.commands_dir):
            folder.mkdir(parents=True, exist_ok=True)
        for name in SHARED_FOLDERS:
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for name in _FOLDERS:
            (self.root / SHARED_FOLDERS[0] / name).mkdir(exist_ok=True)
        card = self.root / "sdcard"
        if not card.is_symlink() and not card.exists():
            card.symlink_to(Path(SHARED_FOLDERS[0]))
