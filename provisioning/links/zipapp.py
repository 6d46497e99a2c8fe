"""Packs the probe and the pure-Python wheels it needs into one file, reproducibly."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from foundation.errors import RequirementError

# python-xlib requires six. Of pyautogui's other requirements, pymsgbox, pyscreeze, pygetwindow and
# mouseinfo need tkinter or Pillow, which guests lack; pyautogui works without them.
VENDORED = ("mss", "Xlib", "six", "pyautogui", "pytweening", "jeepney")

_SKIPPED_FOLDERS = frozenset({"__pycache__", "darwin", "windows", "examples", "tests"})
# Not used in guests: jeepney's event loops, and X extensions that `probe.display.xserver` skips.
_UNUSED_EXTENSIONS = (
    *("composite", "damage", "dpms", "nvcontrol", "randr", "record", "screensaver"),
    *("security", "xfixes", "xinerama", "xinput"),
)
_SKIPPED = frozenset({"jeepney/io", *(f"Xlib/ext/{name}.py" for name in _UNUSED_EXTENSIONS)})
# python3-xlib, an older fork that pyautogui requires, has the same import name but not this module.
_PROOF_OF_XLIB = "Xlib/ext/res.py"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MAIN = b"from provisioning.probe.__main__ import main\n\nmain()\n"


@dataclass(frozen=True, slots=True)
class ProbeArchive:
    """The probe as one file.

    Attributes:
        digest: SHA-256 of names and contents of its members; the version that the probe reports.
        data: the zipapp.
    """

    digest: str
    data: bytes

    @property
    def file_name(self) -> str:
        """Return its file name in guests, which contains the digest."""
        return f"probe-{self.digest[:12]}.pyz"


@cache
def build_probe() -> ProbeArchive:
    """Pack the probe of this checkout.

    Raises:
        RequirementError: a package to be packed is not installed on this host.
    """
    members = {"__main__.py": _MAIN, "provisioning/__init__.py": b""}
    members |= _sources(Path(__file__).parents[1] / "probe", "provisioning/probe")
    for name in VENDORED:
        members |= _sources(_location(name), name)
    if _PROOF_OF_XLIB not in members:
        raise RequirementError(
            "The installed package 'Xlib' is not python-xlib 0.33 or newer.",
            details="python3-xlib, an older fork, has the same import name.",
            resolution="Run `pip uninstall python3-xlib`, then `pip install --force-reinstall "
            "--no-deps python-xlib`.",
        )
    digest = _digest(members)
    members["provisioning/probe/VERSION"] = digest.encode()
    return ProbeArchive(digest, _pack(members))


def _location(name: str) -> Path:
    """Return the folder of a package, or the file of a single module."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise RequirementError(
            f"The package {name!r}, which is a part of the probe, is not installed.",
            details="It is packed into the file that runs inside guests.",
            resolution="Install the project with its extra 'probe', as `make up` does.",
        )
    origin = Path(spec.origin)
    return origin.parent if spec.submodule_search_locations else origin


def _sources(location: Path, prefix: str) -> dict[str, bytes]:
    if location.is_file():
        return {f"{prefix}.py": location.read_bytes()}
    members = {}
    for path in sorted(location.rglob("*.py")):
        relative = path.relative_to(location)
        name = f"{prefix}/{relative.as_posix()}"
        is_skipped = _SKIPPED_FOLDERS.intersection(relative.parts) or _SKIPPED.intersection(
            {name, str(Path(name).parent)}
        )
        if not is_skipped:
            members[name] = path.read_bytes()
    return members


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
