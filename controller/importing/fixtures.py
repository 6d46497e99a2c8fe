"""The user's folder of the files that tasks of other benchmarks download or expect on a machine."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from controller.importing.errors import NotCarriedError

if TYPE_CHECKING:
    from collections.abc import Iterable

_RESOLVED = re.compile(r"^.*/resolve/[^/]+/(.+)$")


class Fixtures:
    """Files by URL, or by path on a machine.

    A file of a URL is looked for at the path that the URL has in its data set (what follows
    ``/resolve/REVISION/``), at ``HOST/PATH``, at ``TASK/NAME`` and at ``NAME``; one of a machine at
    its path there, and below the home folder at the rest of the path.

    Args:
        folder: the folder; None if the user has none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def of_url(self, url: str, task: str) -> Path:
        """Return the file of a URL.

        Raises:
            NotCarriedError: the folder does not have it.
        """
        parts = urlsplit(url)
        path = unquote(parts.path).lstrip("/")
        name = PurePosixPath(path).name
        resolved = _RESOLVED.match(f"/{path}")
        places = [
            *([resolved[1]] if resolved else []),
            f"{parts.hostname or ''}/{path}",
            f"{task}/{name}",
            name,
        ]
        return self._first(places, url)

    def of_path(self, path: str, home: str) -> Path:
        """Return the file or folder that a machine of the other benchmark has.

        Args:
            path: absolute path there, or one that begins with ``~/``.
            home: its home folder there.

        Raises:
            NotCarriedError: the folder does not have it.
        """
        full = f"{home}/{path[2:]}" if path.startswith("~/") else path
        places = [full.lstrip("/")]
        if full.startswith(f"{home}/"):
            places.append(full.removeprefix(f"{home}/"))
        return self._first(places, path)

    def _first(self, places: Iterable[str], wanted: str) -> Path:
        if self._folder is None:
            raise NotCarriedError("file", f"{wanted} is needed; give a folder with --files")
        root = self._folder.resolve()
        names = [place for place in places if place and ".." not in Path(place).parts]
        for name in names:
            found = root / name
            if found.exists() and found.resolve().is_relative_to(root):
                return found
        raise NotCarriedError(
            "file", f"{wanted} is not in {self._folder}; put it at {names[0] if names else wanted}"
        )
