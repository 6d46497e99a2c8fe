"""Pack the probe and the pure-Python wheels it needs into one file, the same bytes every time."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from appliance.base.errors import RequirementError

# What pyautogui needs at run time. Its other dependencies (pymsgbox, pyscreeze, pygetwindow,
# mouseinfo) want tkinter or Pillow, which guests lack; it works without them.
VENDORED = ("mss", "Xlib", "pyautogui", "pytweening")

_SKIPPED_FOLDERS = frozenset({"__pycache__", "darwin", "windows", "examples", "tests"})
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MAIN = b"from provisioning.probe.__main__ import main\n\nmain()\n"


@dataclass(frozen=True, slots=True)
class ProbeArchive:
    """The probe as one file.

    Attributes:
        digest: SHA-256 over names and contents of its members; the version the probe tells.
        data: the zipapp.
    """

    digest: str
    data: bytes

    @property
    def file_name(self) -> str:
        """Name to store it under: tells its content."""
        return f"probe-{self.digest[:12]}.pyz"


@cache
def build_probe() -> ProbeArchive:
    """Pack the probe of this checkout.

    Raises:
        RequirementError: a wheel that is packed into it is not installed here.
    """
    members = {"__main__.py": _MAIN, "provisioning/__init__.py": b""}
    members |= _sources(Path(__file__).parents[1] / "probe", "provisioning/probe")
    for name in VENDORED:
        members |= _sources(_package_folder(name), name)
    digest = _digest(members)
    members["provisioning/probe/VERSION"] = digest.encode()
    return ProbeArchive(digest, _pack(members))


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise RequirementError(
            f"The package {name!r}, a part of the probe, is not installed.",
            details="It is packed into the file that runs inside guests.",
            resolution="Install the project with its extra 'probe', as `make up` does.",
        )
    return Path(spec.submodule_search_locations[0])


def _sources(folder: Path, prefix: str) -> dict[str, bytes]:
    found = {}
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        if not _SKIPPED_FOLDERS.intersection(relative.parts):
            found[f"{prefix}/{relative.as_posix()}"] = path.read_bytes()
    return found


def _digest(members: dict[str, bytes]) -> str:
    sha = hashlib.sha256()
    for name, data in sorted(members.items()):
        sha.update(f"{name}\0{len(data)}\0".encode())
        sha.update(data)
    return sha.hexdigest()


def _pack(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(members.items()):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
    return out.getvalue()
