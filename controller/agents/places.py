"""Locate an error in the user's own code by file and line."""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from pathlib import Path

_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def place_of(error: BaseException) -> str:
    """Return ``file:line, in function`` of the last frame outside libraries; empty if none."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_short(error.filename)}:{error.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", *_LIBRARIES))
    ]
    if not frames:
        return ""
    return f"{_short(frames[-1].filename)}:{frames[-1].lineno}, in {frames[-1].name}"


def place_of_code(function: object) -> str:
    """Return ``file:line, in function`` of a function's definition; empty if unknown."""
    code = getattr(inspect.unwrap(function) if callable(function) else None, "__code__", None)
    return (
        ""
        if code is None
        else f"{_short(code.co_filename)}:{code.co_firstlineno}, in {code.co_name}"
    )


def _short(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename
