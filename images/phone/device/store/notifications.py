"""Notifications as rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from images.phone.device.store.database import Row, Store


def list_notifications(store: Store) -> list[Row]:
    """Return all notifications, newest first."""
    return store.rows("SELECT * FROM notification ORDER BY posted DESC, _id DESC")


def post_notification(  # noqa: PLR0913 - the columns of the row
    store: Store,
    package: str,
    title: str,
    text: str,
    *,
    tag: str,
    posted_ms: int,
    activity: str,
    arguments: dict[str, Any],
) -> int:
    """Post a notification, replacing one with the same package and tag; return its ID."""
    if tag:
        cancel_notifications(store, package, tag)
    return store.insert(
        "INSERT INTO notification (package, tag, title, text, posted, activity, arguments)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (package, tag, title, text, posted_ms, activity, json.dumps(arguments, sort_keys=True)),
    )


def cancel_notifications(store: Store, package: str = "", tag: str = "") -> int:
    """Cancel notifications and return their number; an empty package or tag matches any."""
    return store.change(
        "DELETE FROM notification WHERE ? IN ('', package) AND ? IN ('', tag)", (package, tag)
    )


def arguments_of(row: Row) -> dict[str, Any]:
    """Return the arguments of the activity that a notification opens."""
    return dict(json.loads(row["arguments"]))
