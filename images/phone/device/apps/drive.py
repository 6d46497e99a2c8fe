"""The Drive application: folders and documents."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import DOCS
from images.phone.device.apps.links import fields_of
from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import short_date
from images.phone.device.store.documents import (
    DOCUMENT,
    FOLDER,
    add_document,
    delete_document,
    list_documents,
    load_document,
    rename_document,
)
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Flow, View
from images.phone.device.ui.widgets import ICON_PX

if TYPE_CHECKING:
    from images.phone.device.store.database import Row

KIX = "com.google.android.apps.docs.editors.kix.KixEditorActivity"
DOCUMENT_BODY = "kix_editor_view"
_SEARCH, _NAME = "open_search_bar_text_view", "first_input_field"


class DriveScreen(Screen):
    """The content of one folder."""

    activity = "com.google.android.apps.docs.drive.app.navigation.NavigationActivity"

    @property
    def folder(self) -> Row | None:
        """The open folder; None for the Drive's root."""
        path = self.state.get("path", [])
        return load_document(self.store, int(path[-1])) if path else None

    def content(self) -> View:
        """Show folders and documents."""
        folder = self.folder
        wanted = self.field_text(_SEARCH).strip()
        if folder is None:
            head = self.widgets.search(self.field(_SEARCH, hint="Search in Drive"))
        else:
            head = self.widgets.bar(folder["name"], on_back=self.act(self.back))
            wanted = ""
        documents = list_documents(self.store, folder["_id"] if folder else None, wanted)
        rows = [self._row(row) for row in documents]
        if not rows:
            caption = "No matching results" if wanted else "There are no files here"
            rows = [self.widgets.empty("folder", caption)]
        listed = self.widgets.list_of("doc_list", rows, self.offset("doc_list"), bottom_px=dp(88))
        add = self.widgets.floating_button("Create new", self.set(menu="new"), name="branded_fab")
        body = self.widgets.column(head, listed)
        return View("FrameLayout", children=[body, add], flow=Flow.STACK)

    def dialog(self) -> View | None:
        """Show a menu, or ask for a name."""
        close = self.act(self.back)
        menu = self.state.get("menu")
        if menu == "new":
            entries = [("Folder", self.act(self._ask, "folder")), ("Google Docs", self._new_text)]
            return self.widgets.menu("New", entries, close)
        if menu in {"folder", "rename"}:
            field = self.field(_NAME, hint="Name")
            title = "New folder" if menu == "folder" else "Rename"
            caption = "Create" if menu == "folder" else "Rename"
            return self.widgets.ask_text(title, field, caption, self._take_name, close)
        row = load_document(self.store, int(self.state.get("chosen", 0)))
        if menu == "entry" and row is not None:
            entries = [
                ("Rename", self.act(self._ask, "rename", row["name"])),
                ("Remove", self.act(self._delete, row)),
            ]
            return self.widgets.menu(row["name"], entries, close)
        return None

    def back(self) -> bool:
        """Close the menu, clear the search, or go to the parent folder."""
        if self.state.pop("menu", None):
            self.drop_field(_NAME)
            return True
        if self.field_text(_SEARCH) or self.state.get("focus"):
            self.drop_field(_SEARCH)
            self.focus("")
            return True
        path = list(self.state.get("path", []))
        self.state["path"] = path[:-1]
        return bool(path)

    def submit(self, name: str) -> None:
        """Accept the name."""
        if name == _NAME:
            self._take_name()
        else:
            self.state["keyboard_hidden"] = True

    def _row(self, row: Row) -> View:
        is_folder = row["kind"] == FOLDER
        when = datetime.fromtimestamp(row["modified"] / 1000, tz=self.host.now().tzinfo)
        shown = short_date(when, self.host.now(), is_24=self.host.is_24_hours())
        more = self.widgets.icon_button(
            "more",
            f"More actions for {row['name']}",
            self.set(menu="entry", chosen=row["_id"]),
            name="more_actions_button",
        )
        view = self.widgets.item(
            row["name"],
            summary=f"Modified {shown}",
            names=("entry_label", "doc_status"),
            on_tap=self.act(self._open, row),
            trailing=more,
        )
        label = view.children[0].children[0]
        label.label = f"{row['name']} {'Folder' if is_folder else 'Google Docs'}"
        icon = self.widgets.icon(
            "folder" if is_folder else "document",
            ink=None if is_folder else self.host.theme.primary,
        )
        view.children.insert(0, icon.sized(ICON_PX))
        view.name = "doc_entry_container"
        return view

    def _open(self, row: Row) -> None:
        self.drop_field(_SEARCH)
        self.focus("")
        if row["kind"] == FOLDER:
            self.state["path"] = [*self.state.get("path", []), row["_id"]]
            self.state.pop("scroll", None)
        else:
            fields = fields_of({DOCUMENT_BODY: row["body"]})
            self.start(DOCS, KIX, {"fields": fields}, document=row["_id"])

    def _parent(self) -> int | None:
        folder = self.folder
        return int(folder["_id"]) if folder else None

    def _ask(self, menu: str, text: str = "Untitled folder") -> None:
        self.state["menu"] = menu
        self.put_field(_NAME, text)
        self.focus(_NAME)
        self.state["marked"] = _NAME

    def _take_name(self) -> None:
        name, menu = self.field_text(_NAME).strip(), self.state.get("menu")
        if name and menu == "folder":
            now_ms = int(self.host.now_s() * 1000)
            add_document(self.store, name, FOLDER, now_ms, parent=self._parent())
            self.toast(f"{name} created")
        elif name and menu == "rename":
            rename_document(self.store, int(self.state.get("chosen", 0)), name)
        self.back()

    def _new_text(self) -> None:
        self.state.pop("menu", None)
        now_ms = int(self.host.now_s() * 1000)
        number = add_document(
            self.store, "Untitled document", DOCUMENT, now_ms, parent=self._parent()
        )
        self.start(DOCS, KIX, {"focus": DOCUMENT_BODY}, document=number)

    def _delete(self, row: Row) -> None:
        delete_document(self.store, row["_id"])
        self.state.pop("menu", None)
        self.toast(f"{row['name']} removed")
