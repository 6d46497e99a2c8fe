"""Folders and documents of the Drive as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from images.phone.device.store.database import Row, Store

FOLDER, DOCUMENT = "folder", "document"


def list_documents(store: Store, parent: int | None, text: str = "") -> list[Row]:
    """Return the content of a folder, folders first; with a text, all matches by name anywhere."""
    order = " ORDER BY kind='document', name COLLATE NOCASE, _id"
    if text:
        rows = store.rows(f"SELECT * FROM document{order}")  # noqa: S608 - a constant
        return [row for row in rows if text.casefold() in row["name"].casefold()]
    sql = f"SELECT * FROM document WHERE parent IS ?{order}"  # noqa: S608 - a constant
    return store.rows(sql, (parent,))


def recent_documents(store: Store) -> list[Row]:
    """Return the documents, most recently changed first."""
    return store.rows(
        "SELECT * FROM document WHERE kind='document' ORDER BY modified DESC, _id DESC"
    )


def load_document(store: Store, number: int) -> Row | None:
    """Return one folder or document; None if it does not exist."""
    rows = store.rows("SELECT * FROM document WHERE _id=?", (number,))
    return rows[0] if rows else None


def add_document(
    store: Store, name: str, kind: str, now_ms: int, *, parent: int | None = None, body: str = ""
) -> int:
    """Create a folder or document and return its ID.

    Args:
        store: the state.
        name: displayed name.
        kind: `FOLDER` or `DOCUMENT`.
        now_ms: current time, ms since the epoch.
        parent: ID of the parent folder; None for the Drive's root.
        body: text of a document.
    """
    return store.insert(
        "INSERT INTO document (parent, name, kind, body, modified) VALUES (?, ?, ?, ?, ?)",
        (parent, name, kind, body, now_ms),
    )


def rename_document(store: Store, number: int, name: str) -> None:
    """Rename a folder or document."""
    store.change("UPDATE document SET name=? WHERE _id=?", (name, number))


def write_document(store: Store, number: int, body: str, now_ms: int) -> None:
    """Replace the text of a document."""
    store.change("UPDATE document SET body=?, modified=? WHERE _id=?", (body, now_ms, number))


def delete_document(store: Store, number: int) -> int:
    """Delete a document, or a folder with its content; return the number of deleted rows."""
    return store.change("DELETE FROM document WHERE _id=?", (number,))
