"""Registered suites of users, referred to by name like the built-in ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from controller.actions.vocabulary import vocabulary
from controller.registered.copies import Copies
from evaluators.loading.suite import list_subsets, list_suites, load_suite, shipped_subset
from evaluators.loading.suite_reader import INDEX
from foundation.errors import SpecError, UnknownNameError

if TYPE_CHECKING:
    from controller.registered.copies import Entry
    from foundation.settings import Settings


def suite_copies(settings: Settings) -> Copies:
    """Return the registered suites of an appliance."""
    return Copies(settings.registered_dir / "suites", "suite")


def known_suites(settings: Settings) -> list[str]:
    """Return the names of all built-in and registered suites."""
    return [*list_suites(), *suite_copies(settings).names()]


def locate_suite(reference: str, settings: Settings) -> str:
    """Resolve a reference to the name of a built-in suite or a path.

    Args:
        reference: name of a suite, of a built-in suite's subset such as ``crab-v1-small``,
            ``name@digest`` of a registered suite, or a path.
        settings: the location of registered suites.

    Raises:
        UnknownNameError: there is no such suite.
    """
    if "/" in reference or reference in list_suites() or any(shipped_subset(reference)):
        return reference
    copies = suite_copies(settings)
    if entry := copies.find(reference):
        return str(copies.content(entry))
    if Path(reference).exists():
        return reference
    names = [*known_suites(settings), *list_subsets()]
    raise UnknownNameError.of("suite", reference, names)


def pin_suite(reference: str, settings: Settings) -> str:
    """Return a reference to the current copy of a registered suite; other references are unchanged.

    A queued run uses the suite as it was when the run was queued.
    """
    entry = None if "/" in reference else suite_copies(settings).find(reference)
    return reference if entry is None or reference in list_suites() else entry.reference


def add_suite(path: Path, settings: Settings) -> Entry:
    """Validate a suite and register a copy of it; registering it twice is not an error.

    Args:
        path: its folder, or the ``suite.yaml`` in it.
        settings: the location of registered suites.

    Raises:
        SpecError: one of its files is invalid, or it has the name of a built-in suite.
    """
    folder = path.parent if path.name == INDEX else path
    if not (folder / INDEX).is_file():
        raise SpecError(
            f"{path} is not a suite: it has no {INDEX}.",
            resolution="Add it; docs/tasks.md describes the content of a suite's folder.",
        )
    load_suite(folder, vocabulary())  # errors refer to the user's own paths
    return suite_copies(settings).add(folder, _examine)


def _examine(folder: Path) -> tuple[str, str, str]:
    suite = load_suite(folder, vocabulary())
    if suite.name in list_suites():
        raise SpecError(
            f"{suite.name!r} is the name of a built-in suite.",
            resolution="Choose another name in its suite.yaml.",
        )
    return suite.name, suite.digest, suite.description
