"""The SSH key for this appliance's access to its guests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.files import FileLock
from foundation.process import run

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.settings import Settings


def ensure_ssh_key(settings: Settings) -> Path:
    """Return the path of the private key (public key: ``.pub``), and create the pair on first use.

    Raises:
        ToolError: ssh-keygen is missing or failed.
    """
    key = settings.keys_dir / "ssh_ed25519"
    if not key.with_suffix(".pub").is_file():
        settings.keys_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(settings.keys_dir / ".lock")
        lock.acquire()
        try:
            if not key.with_suffix(".pub").is_file():
                key.unlink(missing_ok=True)
                make_key(key, "mesocosm")
        finally:
            lock.release()
    return key


def make_key(path: Path, comment: str) -> None:
    """Create an Ed25519 key pair without a passphrase.

    Raises:
        ToolError: ssh-keygen is missing or failed.
    """
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)]).require()
