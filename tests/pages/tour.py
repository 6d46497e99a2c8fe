"""The addresses of all pages, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.pages.demo import EXPERIMENT, FAILED_BUILD, SCHEDULE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class PathContext:
    """What addresses depend on.

    Attributes:
        run: the recorded run that is shown.
        other: another one of the same tasks.
    """

    run: str
    other: str


TOUR: Mapping[str, Callable[[PathContext], str]] = {
    "overview": lambda _: "/",
    "fleet": lambda _: "/fleet",
    "machine": lambda _: "/fleet/desktop-0000",
    "runs": lambda _: "/runs",
    "run": lambda at: f"/runs/{at.run}",
    "trial": lambda at: f"/runs/{at.run}/trials/dark-style/0?at=4",
    "side-by-side": lambda at: (
        f"/runs/{at.run}/trials/dark-style/0?at=2&beside={at.other}/dark-style/0"
    ),
    "suites": lambda _: "/suites",
    "suite": lambda _: "/suites/smoke",
    "task": lambda _: "/suites/smoke/tasks/cross-errand",
    "images": lambda _: "/images",
    "build": lambda _: f"/images/{FAILED_BUILD}",
    "compare": lambda at: f"/compare?first={at.run}&second={at.other}",
    "experiments": lambda _: "/experiments",
    "experiment": lambda _: f"/experiments/{EXPERIMENT}",
    "schedules": lambda _: "/schedules",
    "schedule": lambda _: f"/schedules/{SCHEDULE}",
    "metrics": lambda _: "/dashboards",
    "human": lambda _: "/human",
    "doctor": lambda _: "/doctor",
}
"""Path of each page."""
