"""Read an API key from a file that nobody but its owner can access."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from pydantic import SecretStr

from foundation.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MAX_BYTES = 10_000


def read_key(path: Path) -> SecretStr:
    """Return the key in a file, without surrounding white space.

    The file is opened before it is examined, so that it cannot be exchanged in between.

    Raises:
        SettingsError: it cannot be read, belongs to somebody else, others may access it, or it is empty.
    """
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            content = file.read(_MAX_BYTES)
    except OSError as exc:
        raise _invalid(path, f"it cannot be read: {exc.strerror}") from exc
    if not stat.S_ISREG(state.st_mode):
        raise _invalid(path, "it is not a regular file")
    if state.st_uid != os.geteuid():
        raise _invalid(path, "it belongs to another user")
    if state.st_mode & _OTHERS:
        mode = stat.S_IMODE(state.st_mode)
        raise _invalid(path, f"others may access it: its mode is {mode:04o}", f"chmod 600 {path}")
    try:
        key = content.decode().strip()
    except UnicodeDecodeError:
        raise _invalid(path, "it is not text") from None
    if not key:
        raise _invalid(path, "it is empty")
    return SecretStr(key)


def _invalid(path: Path, why: str, resolution: str = "") -> SettingsError:
    return SettingsError(
        "MESOCOSM_MODEL_API_KEY_FILE is invalid.",
        details=f"{path}: {why}.",
        resolution=resolution or "Write the key into a file of your own, and run: chmod 600 FILE",
    )
