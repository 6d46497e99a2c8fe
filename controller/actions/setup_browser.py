"""Setup operations for what a desktop's browser knows: pages of a folder, bookmarks, history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from controller.actions.setup_files import GuestPath, absolute
from controller.actions.setup_programs import start_program
from evaluators.decorators import setup
from foundation.errors import ActionError
from foundation.host_load import stretched

if TYPE_CHECKING:
    from provisioning.protocols import Machine

_PROGRAMS = Path(__file__).with_name("guest_programs")
_SERVE_S = 60.0
_PROFILE_S = 240.0
_START_S = 240.0

Port = Annotated[int, Field(ge=1024, le=65535)]
Url = Annotated[str, Field(min_length=8, max_length=1500, pattern=r"^(https?|file)://")]


class Bookmark(BaseModel):
    """A bookmark.

    Attributes:
        title: its title.
        url: its address.
        place: the toolbar, the menu, or other bookmarks.
        folder: title of a folder there, which is created; empty for none.
    """

    model_config = ConfigDict(extra="forbid")

    title: str
    url: Url
    place: Literal["toolbar", "menu", "other"] = "toolbar"
    folder: str = ""


class Visit(BaseModel):
    """A visit to a page.

    Attributes:
        url: address of the page.
        title: title of the page.
        minutes_ago: how long ago it was, by the desktop's clock.
    """

    model_config = ConfigDict(extra="forbid")

    url: Url
    title: str = ""
    minutes_ago: Annotated[float, Field(gt=0, le=5_000_000)] = 60


@setup(on="desktop")
def serve_pages(machine: Machine, path: GuestPath, port: Port = 8000) -> None:
    """Serve the files of a folder at http://localhost:PORT/, until the desktop is reset.

    Only programs of the desktop reach the server. It belongs to another user, so that the agent
    cannot end it; files that root owns outside the home folder cannot be changed either. What the
    folder gets later is served, too.

    Args:
        machine: the desktop.
        path: the folder, which all users can read: absolute, or starting with ~/.
        port: the server's port.
    """
    about = {"folder": absolute(machine, path), "port": port, "timeout_s": stretched(_SERVE_S)}
    _run(machine, "pages", about, user="root", what=f"Pages cannot be served at port {port}")


@setup(on="desktop")
def add_bookmarks(machine: Machine, bookmarks: list[Bookmark]) -> None:
    """Add bookmarks to the profile of Firefox, which must not run yet.

    If Firefox has no profile yet, it makes one first, which takes about as long as its start.

    Args:
        machine: the desktop.
        bookmarks: what to add, in order, each with title and url; place (toolbar, menu, other) and
            folder say where.
    """
    rows = [bookmark.model_dump() for bookmark in bookmarks]
    _add_places(machine, {"bookmarks": rows, "visits": []})


@setup(on="desktop")
def add_history(machine: Machine, visits: list[Visit]) -> None:
    """Add visits to the history of Firefox, which must not run yet; as add_bookmarks.

    Args:
        machine: the desktop.
        visits: what to add, each with url, title and minutes_ago.
    """
    rows = [visit.model_dump() for visit in visits]
    _add_places(machine, {"bookmarks": [], "visits": rows})


@setup(on="desktop")
def open_tabs(
    machine: Machine, urls: Annotated[list[Url], Field(min_length=1, max_length=20)]
) -> None:
    """Start Firefox with a tab for each address, in order; the last one is in front.

    Each page is loaded before the next tab opens.

    Args:
        machine: the desktop.
        urls: the addresses.
    """
    desktop_id = "firefox-esr" if "ESR" in machine.info.browser else "firefox"
    for url in urls:
        # The first starts Firefox; it opens a tab for each further one.
        start_program(machine, desktop_id, [url], wait_s=_START_S)


def _add_places(machine: Machine, about: dict[str, Any]) -> None:
    about = {**about, "timeout_s": stretched(_PROFILE_S)}
    _run(machine, "places", about, user=None, what="The profile of Firefox cannot be prepared")


def _run(
    machine: Machine, program: str, about: dict[str, Any], *, user: str | None, what: str
) -> None:
    """Run one of the programs for guests there, with JSON on its standard input.

    Raises:
        ActionError: it ended with an error.
    """
    text = (_PROGRAMS / f"{program}.py").read_text()
    argv = ["/usr/bin/python3", "-I", "-c", text]
    timeout_s = float(about["timeout_s"]) + 30
    result = machine.run(argv, user=user, timeout_s=timeout_s, input=json.dumps(about).encode())
    if result.exit_code != 0:
        lines = result.stderr.decode(errors="replace").strip()
        raise ActionError(f"{what}.", details=lines[-2000:])
