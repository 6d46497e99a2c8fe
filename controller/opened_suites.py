"""Suites that pages show: read again only when a file of theirs has changed.

A large suite takes seconds to read and check, and pages show it often.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from controller.registered.suites import locate_suite
from controller.wiring import open_suite
from evaluators.loading.suite import BUILTIN
from foundation.settings import get_settings

if TYPE_CHECKING:
    from evaluators.loading.suite import Suite

_KEPT = 16

Stamp = tuple[tuple[str, int, int], ...]


def open_unchanged(reference: str) -> Suite:
    """Return a suite as `open_suite` does; the same object while its files are the same.

    Args:
        reference: name of a built-in or registered suite.

    Raises:
        UnknownNameError: there is no such suite.
        SpecError: one of its files is invalid.
    """
    located = locate_suite(reference, get_settings())
    folder = Path(located) if "/" in located else BUILTIN / located
    return _opened(reference, str(folder), _stamp(folder))


def _stamp(folder: Path) -> Stamp:
    """Return name, time and size of every file of a suite."""
    rows = []
    for path in sorted(folder.rglob("*")):
        status = path.stat()
        rows.append((str(path.relative_to(folder)), status.st_mtime_ns, status.st_size))
    return tuple(rows)


@lru_cache(maxsize=_KEPT)
def _opened(reference: str, folder: str, stamp: Stamp) -> Suite:
    del folder, stamp
    return open_suite(reference)
