"""Refuses to build the client without its package, which a copy of this folder alone lacks."""  # noqa: INP001 - a script of the build

from __future__ import annotations

from pathlib import Path

from setuptools import setup

if not (Path(__file__).resolve().parent / "mesocosm/client").is_dir():
    raise SystemExit(
        "error: the package `mesocosm` is missing: client/mesocosm is a link to the folder of the same"
        " name in the repository. Install from a whole checkout, `pip install ./client`, or build a"
        " wheel there, `pip wheel --no-deps ./client`, and copy the wheel."
    )
setup()
