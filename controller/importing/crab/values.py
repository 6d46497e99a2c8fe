"""Values of a CRAB subtask's attributes in the texts of the table.

``${name}`` is the value of an attribute; ``${name|way}`` is what a way makes of it:

* ``path``: the path in our home folder;
* ``original``: a copy that the agent cannot change, or the file that an earlier subtask makes;
* ``names``: names of the files in a folder that have the extension ``file_extension``;
* ``sha256``: digest of the user's copy of an address;
* ``digits``: only its digits;
* ``within``: a regular expression for a text that contains it;
* ``morning``, ``midnight_ms``: the date at nine o'clock, and its beginning in milliseconds.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from controller.importing.errors import NotCarriedError
from foundation.files import digest_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from controller.importing.draft import Draft
    from controller.importing.fixtures import Fixtures
    from provisioning.protocols import Json

_USER = "crab"
HOME = f"/home/{_USER}"
"""The home folder of CRAB's desktop."""
DESKTOP = "desktop"
_PLACEHOLDER = re.compile(r"\$\{(\w+)(?:\|(\w+))?\}")
_DATES = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%Y-%m-%d")


class Values:
    """The values of one use of a subtask.

    Args:
        attributes: values by attribute.
        draft: the task.
        fixtures: the user's files.
        made: paths that earlier subtasks make, as in CRAB's files.
    """

    def __init__(
        self,
        attributes: Mapping[str, str],
        draft: Draft,
        fixtures: Fixtures,
        made: Collection[str] = (),
    ) -> None:
        self._attributes = attributes
        self._draft = draft
        self._fixtures = fixtures
        self._made = made

    def fill(self, value: Json) -> Json:
        """Return a value of the table with the attributes in place of placeholders.

        Raises:
            NotCarriedError: an attribute has no such form, or a file is missing.
        """
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in value.items()}
        if not isinstance(value, str):
            return value
        whole = _PLACEHOLDER.fullmatch(value)
        if whole:
            return self._value(whole[1], whole[2])
        return _PLACEHOLDER.sub(lambda match: str(self._value(match[1], match[2])), value)

    def fill_row(self, row: Mapping[str, Json]) -> dict[str, Json]:
        """Return a row of the table, filled."""
        return {key: self.fill(item) for key, item in row.items()}

    def _value(self, name: str, way: str | None) -> Json:
        value = self._attributes[name]
        return self._ways[way](value) if way else value

    @cached_property
    def _ways(self) -> Mapping[str, Callable[[str], Json]]:
        return {
            "path": here,
            "original": self._original,
            "names": self._names,
            "sha256": self._sha256,
            "digits": lambda text: re.sub(r"[^0-9+]", "", text),
            "within": lambda text: f"(?s).*{re.escape(text)}.*",
            "morning": lambda text: f"{_date(text):%Y-%m-%d} 09:00",
            "midnight_ms": lambda text: str(int(_date(text).timestamp() * 1000)),
        }

    def _original(self, path: str) -> str:
        if path in self._made:
            return here(path)
        return self._draft.place_original(DESKTOP, self._fixtures.of_path(path, HOME))

    def _sha256(self, url: str) -> str:
        return digest_file(self._fixtures.of_url(url, self._draft.id))

    def _names(self, folder: str) -> Json:
        suffix = f".{self._attributes['file_extension']}"
        found = self._fixtures.of_path(folder, HOME)
        made = (Path(path) for path in self._made if str(Path(path).parent) == folder)
        names = sorted({p.name for p in (*found.iterdir(), *made) if p.name.endswith(suffix)})
        if not names:
            raise NotCarriedError("file", f"{folder} has no file that ends with {suffix}")
        return list(names)


def here(path: str) -> str:
    """Return the path in our home folder of a path in CRAB's."""
    if path == HOME or path.startswith(f"{HOME}/"):
        return f"~{path.removeprefix(HOME)}"
    return path


def parent_to_make(path: str) -> str | None:
    """Return the folder of a path if our desktops do not have it from the start."""
    parent = str(Path(here(path)).parent)
    known = {"~", "~/Desktop", "~/Documents", "~/Downloads", "~/Pictures", "/tmp"}  # noqa: S108
    return None if parent in known else parent


def _date(text: str) -> datetime:
    for form in _DATES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise NotCarriedError("option", f"{text!r} is not a date such as '4 June 2024'")
