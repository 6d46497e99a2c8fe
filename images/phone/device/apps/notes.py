"""The Notes application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.links import fields_of
from images.phone.device.apps.screen import Screen
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Align, Flow, Look, View
from images.phone.device.ui.widgets import EDGE_PX, SMALL_PX

if TYPE_CHECKING:
    from images.phone.device.store.database import Row

_EDITOR = "com.google.android.keep.activities.EditorActivity"
_TITLE, _BODY, _SEARCH = "editable_title", "edit_note_text", "open_search_bar"


class NotesScreen(Screen):
    """All notes, pinned ones first."""

    activity = "com.google.android.keep.activities.BrowseActivity"

    def content(self) -> View:
        """Show a search bar and the notes in two columns."""
        wanted = self.field_text(_SEARCH).strip().casefold()
        search = self.widgets.search(self.field(_SEARCH, hint="Search your notes"))
        is_archive = bool(self.state.get("archive"))
        notes = [
            row
            for row in self.store.rows(
                "SELECT * FROM note WHERE archived=? ORDER BY pinned DESC, modified DESC, _id DESC",
                (int(is_archive),),
            )
            if wanted in f"{row['title']}\n{row['body']}".casefold()
        ]
        rows = self._grid(notes)
        if not rows:
            message = "No matching notes" if wanted else "Notes you add appear here"
            rows = [self.widgets.empty("archive" if is_archive else "bulb", message)]
        listed = self.widgets.list_of("notes", rows, self.offset("notes"), bottom_px=dp(96))
        chips = self.widgets.row(
            self.widgets.chip("Notes", self.set(archive=False), is_on=not is_archive),
            self.widgets.chip("Archive", self.set(archive=True), is_on=is_archive),
            gap_px=dp(8),
        )
        chips.padding_px = (EDGE_PX, 0, EDGE_PX, dp(8))
        bottom = View("FrameLayout", "editor_bottom_bar", is_silent=False, height_px=dp(1))
        body = self.widgets.column(search, chips, listed, bottom)
        add = self.widgets.floating_button(
            "New text note", self.act(self._create), name="speed_dial_create_close_button"
        )
        return View("FrameLayout", children=[body, add], flow=Flow.STACK)

    def back(self) -> bool:
        """Clear the search, or leave the archive."""
        if self.field_text(_SEARCH) or self.state.get("focus"):
            self.drop_field(_SEARCH)
            self.focus("")
            return True
        return bool(self.state.pop("archive", False))

    def _create(self) -> None:
        self.open(_EDITOR, {"focus": _BODY})

    def _grid(self, notes: list[Row]) -> list[View]:
        columns = 4 if self.host.display.is_wide else 2
        room = self.host.display.width_px - 2 * EDGE_PX - (columns - 1) * dp(8)
        rows = []
        for start in range(0, len(notes), columns):
            cards = [
                self._card(row).sized(room // columns) for row in notes[start : start + columns]
            ]
            row = self.widgets.row(*cards, gap_px=dp(8))
            row.align = Align.START
            row.padding_px = (EDGE_PX, dp(4), EDGE_PX, dp(4))
            rows.append(row)
        return rows

    def _card(self, row: Row) -> View:
        theme = self.host.theme
        parts = []
        if row["title"]:
            parts.append(self.widgets.text(row["title"], "index_note_title", bold=True, lines=2))
        text = self.widgets.text(
            row["body"] or " ", "index_note_text_description", size_px=SMALL_PX, lines=8
        )
        parts.append(View("LinearLayout", "browse_note_interior_content", children=[text]))
        if row["pinned"]:
            pin = self.widgets.text("Pinned", size_px=dp(11), ink=theme.primary, bold=True)
            parts.insert(0, pin)
        return View(
            "android.view.ViewGroup",
            "browse_text_note",
            label=f"{row['title']}. {row['body']}".strip(". "),
            children=parts,
            look=Look(fill=theme.background, outline=theme.line, radius_px=dp(12)),
            padding_px=(dp(12), dp(10), dp(12), dp(10)),
            gap_px=dp(4),
            on_tap=self.act(self._open, row),
        )

    def _open(self, row: Row) -> None:
        fields = fields_of({_TITLE: row["title"], _BODY: row["body"]})
        self.open(_EDITOR, {"fields": fields, "focus": _BODY}, note=row["_id"])


class NoteScreen(Screen):
    """One note; changes are saved immediately."""

    activity = _EDITOR
    multiline = frozenset({_BODY})

    def content(self) -> View:
        """Show title and text."""
        row = self._row()
        pinned, archived = (bool(row and row[name]) for name in ("pinned", "archived"))
        actions = (
            self.widgets.icon_button(
                "bookmark" if pinned else "bookmark_empty",
                "Unpin" if pinned else "Pin",
                self.act(self._flip, "pinned"),
                name="menu_pin",
            ),
            self.widgets.icon_button(
                "archive",
                "Unarchive" if archived else "Archive",
                self.act(self._archive),
                name="menu_archive",
            ),
            self.widgets.icon_button(
                "delete", "Delete", self.act(self._delete), name="menu_delete"
            ),
        )
        bar = self.widgets.bar("", on_back=self.act(self.leave), actions=actions)
        title = self.field(_TITLE, hint="Title", framed=False, lines=2)
        title.look.size_px = dp(24)
        body = self.field(_BODY, hint="Note", framed=False, lines=200).at_least(dp(200))
        listed = self.widgets.list_of("editor", [title, body], self.offset("editor"))
        edited = self.widgets.text(
            "Edited just now" if row else "New note", "edited_text", size_px=dp(12), centered=True
        )
        bottom = View(
            "FrameLayout", "editor_bottom_bar", children=[edited], padding_px=(0, dp(12), 0, dp(12))
        )
        return self.widgets.column(bar, listed, bottom)

    def back(self) -> bool:
        """Save the note, then close."""
        self._keep()
        return False

    def leave(self) -> None:
        """Handle the back arrow at the top."""
        self._keep()
        self.finish()

    def edited(self, name: str) -> None:
        """Save the note."""
        del name
        self._keep()

    def submit(self, name: str) -> None:
        """Go to the text field."""
        del name
        self.focus(_BODY)

    def _row(self) -> Row | None:
        rows = self.store.rows(
            "SELECT * FROM note WHERE _id=?", (self.entry.arguments.get("note"),)
        )
        return rows[0] if rows else None

    def _keep(self) -> Row | None:
        """Save the note, unless it is new and empty."""
        title, body = self.field_text(_TITLE).strip(), self.field_text(_BODY)
        row, now_ms = self._row(), int(self.host.now_s() * 1000)
        if row is None and (title or body.strip()):
            self.entry.arguments["note"] = self.store.insert(
                "INSERT INTO note (title, body, modified) VALUES (?, ?, ?)", (title, body, now_ms)
            )
        elif row is not None and (row["title"], row["body"]) != (title, body):
            self.store.change(
                "UPDATE note SET title=?, body=?, modified=? WHERE _id=?",
                (title, body, now_ms, row["_id"]),
            )
        return self._row()

    def _flip(self, column: str) -> None:
        row = self._keep()
        if row is not None:
            # The column is "pinned" or "archived".
            sql = f"UPDATE note SET {column}=? WHERE _id=?"  # noqa: S608
            self.store.change(sql, (int(not row[column]), row["_id"]))

    def _archive(self) -> None:
        self._flip("archived")
        self.toast("Note archived" if (self._row() or {}).get("archived") else "Note unarchived")
        self.finish()

    def _delete(self) -> None:
        self.store.change("DELETE FROM note WHERE _id=?", (self.entry.arguments.get("note"),))
        self.toast("Note deleted")
        self.finish()
