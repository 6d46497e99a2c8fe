"""Repositories, their stars and issues, as files of the state."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from images.world.program.sites.clock import WorldClock

MAX_CHARS = 4000


class Repositories:
    """All repositories; one process writes them.

    Args:
        folder: folder of their files in the state.
        clock: the world's time.
    """

    def __init__(self, folder: Path, clock: WorldClock) -> None:
        self._folder = folder
        self._clock = clock
        self._lock = threading.Lock()
        self._known = {
            (row["owner"], row["name"]): row
            for path in sorted(folder.glob("*.json"))
            for row in [json.loads(path.read_text())]
        }

    def all(self) -> list[dict[str, Any]]:
        """Return all repositories, those with the most stars first."""
        return sorted(self._known.values(), key=lambda row: (-row["stars"], row["name"]))

    def find(self, owner: str, name: str) -> dict[str, Any] | None:
        """Return a repository; None if there is none."""
        return self._known.get((owner, name))

    def named(self, name: str) -> dict[str, Any] | None:
        """Return the repository with a name; None if there is none."""
        return next((row for row in self._known.values() if row["name"] == name), None)

    def search(self, query: str, language: str) -> list[dict[str, Any]]:
        """Return the repositories of a language that have all words in name, owner or description."""
        words = query.casefold().split()
        return [
            row
            for row in self.all()
            if language in {"", row["language"]}
            and all(w in f"{row['name']} {row['owner']} {row['about']}".casefold() for w in words)
        ]

    def star(self, owner: str, name: str) -> None:
        """Give a star, or take it back."""

        def change(row: dict[str, Any]) -> None:
            row["is_starred"] = not row["is_starred"]
            row["stars"] += 1 if row["is_starred"] else -1

        self._change(owner, name, change)

    def open_issue(self, owner: str, name: str, author: str, title: str, text: str) -> None:
        """Open an issue."""

        def change(row: dict[str, Any]) -> None:
            row["issues"].append(
                {
                    "number": max((issue["number"] for issue in row["issues"]), default=0) + 1,
                    "title": title[:MAX_CHARS],
                    "text": text[:MAX_CHARS],
                    "author": author,
                    "opened": self._clock.now.isoformat(),
                    "is_open": True,
                    "labels": [],
                    "comments": [],
                }
            )

        self._change(owner, name, change)

    def change_issue(
        self, owner: str, name: str, number: int, author: str, comment: str, *, closes: bool
    ) -> None:
        """Comment on an issue, and close or reopen it."""

        def change(row: dict[str, Any]) -> None:
            for issue in row["issues"]:
                if issue["number"] == number:
                    if comment.strip():
                        text = comment[:MAX_CHARS]
                        issue["comments"].append({"author": author, "text": text})
                    if closes:
                        issue["is_open"] = not issue["is_open"]

        self._change(owner, name, change)

    def _change(self, owner: str, name: str, change: Callable[[dict[str, Any]], None]) -> None:
        with self._lock:
            row = self.find(owner, name)
            if row is None:
                return
            change(row)
            path = self._folder / f"{owner}--{name}.json"
            part = path.with_suffix(".part")
            part.write_text(json.dumps(row, indent=1, sort_keys=True))
            os.chmod(part, 0o600)  # noqa: PTH101 - as the files that it was filled with
            part.replace(path)
