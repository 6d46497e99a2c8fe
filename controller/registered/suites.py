"""Suites of users that can be named like those that ship with the appliance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from appliance.base.errors import SpecError, UnknownNameError
from controller.actions.vocabulary import vocabulary
from controller.registered.copies import Copies
from evaluators.model.suite import list_suites, load_suite
from evaluators.model.suite_reader import INDEX

if TYPE_CHECKING:
    from appliance.base.settings import Settings
    from controller.registered.copies import Entry


def suite_copies(settings: Settings) -> Copies:
    """Return the registered suites of an appliance."""
    return Copies(settings.registered_dir / "suites", "suite")


def known_suites(settings: Settings) -> list[str]:
    """Return the names of all suites: those that ship, and those that are registered."""
    return [*list_suites(), *suite_copies(settings).names()]


def locate_suite(reference: str, settings: Settings) -> str:
    """Return what a suite is loaded by: the name of a shipped one, or a path.

    Args:
        reference: name of a suite, ``name@digest`` of a registered one, or a path.
        settings: where registered suites are.

    Raises:
        UnknownNameError: it is none of them.
    """
    if "/" in reference or reference in list_suites():
        return reference
    copies = suite_copies(settings)
    if entry := copies.find(reference):
        return str(copies.content(entry))
    if Path(reference).exists():
        return reference
    raise UnknownNameError.of("suite", reference, known_suites(settings))


def pin_suite(reference: str, settings: Settings) -> str:
    """Return the reference of a suite as it is now; that of other than registered ones unchanged.

    What is queued is run as it was when it was queued, whatever is added later.
    """
    entry = None if "/" in reference else suite_copies(settings).find(reference)
    return reference if entry is None or reference in list_suites() else entry.reference


def add_suite(path: Path, settings: Settings) -> Entry:
    """Check a suite and register a copy of it; the same one twice is no error.

    Args:
        path: its folder, or the ``suite.yaml`` in it.
        settings: where registered suites are.

    Raises:
        SpecError: a file of it is wrong, or it has the name of a suite that ships.
    """
    folder = path.parent if path.name == INDEX else path
    if not (folder / INDEX).is_file():
        raise SpecError(
            f"{path} is no suite: it has no {INDEX}.",
            resolution="docs/tasks.md shows what a suite's folder holds.",
        )
    load_suite(folder, vocabulary())  # mistakes are named by the user's own paths
    return suite_copies(settings).add(folder, _examine)


def _examine(folder: Path) -> tuple[str, str, str]:
    suite = load_suite(folder, vocabulary())
    if suite.name in list_suites():
        raise SpecError(
            f"A suite called {suite.name!r} ships with Mesocosm.",
            resolution="Give yours another name in its suite.yaml.",
        )
    return suite.name, suite.digest, suite.description
