"""axe-core, which finds what keeps people from using a page; fetched when tests need it."""

from __future__ import annotations

import os
from pathlib import Path

from foundation.errors import ToolError
from foundation.process import find_tool, run

VERSION = "4.14.1"
_TIMEOUT_S = 120.0


def find_axe() -> Path | str:
    """Return its script, from the cache or by npm; else why there is none."""
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "mesocosm-tests"
    script = root / f"axe-{VERSION}" / "node_modules/axe-core/axe.min.js"
    if script.is_file():
        return script
    if not find_tool("npm"):
        return "axe-core is not there, and npm is missing"
    folder = root / f"axe-{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    argv = ["npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        result = run([*argv, "--prefix", str(folder), f"axe-core@{VERSION}"], timeout_s=_TIMEOUT_S)
    except ToolError as exc:
        return f"npm does not answer: {exc}"
    return script if script.is_file() else f"npm has no axe-core: {result.stderr.decode()[-300:]}"
