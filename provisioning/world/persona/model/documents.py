"""Files, notes, photos and the history of the browser."""

from __future__ import annotations

from datetime import datetime

from provisioning.world.persona.model.base import Record


class File(Record):
    """A document of the person.

    Attributes:
        path: path below the person's folder, such as ``Documents/Home/lease.txt``.
        media_type: such as ``text/csv``.
        text: its content.
        modified: when it was last changed, UTC.
    """

    path: str
    media_type: str
    text: str
    modified: datetime


class Note(Record):
    """A note.

    Attributes:
        title: first line.
        text: the rest.
        edited: when it was last changed, UTC.
        is_pinned: whether it is on top.
    """

    title: str
    text: str
    edited: datetime
    is_pinned: bool


class Photo(Record):
    """What is known about a photo.

    Attributes:
        path: path below the person's folder.
        taken: when, UTC.
        album: name of the album.
        town: where.
        latitude: degrees north.
        longitude: degrees east.
        people: ids of the contacts on it.
        width_px: width.
        height_px: height.
        caption: one line.
        event: id of the event at which it was taken; empty if none.
    """

    path: str
    taken: datetime
    album: str
    town: str
    latitude: float
    longitude: float
    people: tuple[str, ...]
    width_px: int
    height_px: int
    caption: str
    event: str


class Visit(Record):
    """A page that the person visited.

    Attributes:
        url: its address.
        title: its title.
        visited: when, UTC.
    """

    url: str
    title: str
    visited: datetime


class Bookmark(Record):
    """A bookmark of the browser."""

    url: str
    title: str
    added: datetime
