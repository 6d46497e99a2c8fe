"""The Docs application: documents stored in the Drive."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from images.phone.device.apps.drive import DOCUMENT_BODY, KIX
from images.phone.device.apps.links import fields_of
from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import short_date
from images.phone.device.store.documents import (
    DOCUMENT,
    add_document,
    load_document,
    recent_documents,
    rename_document,
    write_document,
)
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Flow, View
from images.phone.device.ui.widgets import ICON_PX

if TYPE_CHECKING:
    from images.phone.device.store.database import Row

_SEARCH, _NAME = "open_search_bar_text_view", "first_input_field"


class DocsScreen(Screen):
    """All documents, most recently changed first."""

    activity = "com.google.android.apps.docs.editors.homescreen.HomescreenActivity"

    def content(self) -> View:
        """Show a search bar and the documents."""
        wanted = self.field_text(_SEARCH).strip().casefold()
        search = self.widgets.search(self.field(_SEARCH, hint="Search Docs"))
        documents = [
            row
            for row in recent_documents(self.store)
            if wanted in f"{row['name']}\n{row['body']}".casefold()
        ]
        rows = [self._row(row) for row in documents]
        if not rows:
            message = "No matching documents" if wanted else "No documents yet"
            rows = [self.widgets.empty("document", message)]
        listed = self.widgets.list_of("doc_list", rows, self.offset("doc_list"), bottom_px=dp(88))
        add = self.widgets.floating_button("New document", self._create, name="fab")
        return View(
            "FrameLayout", children=[self.widgets.column(search, listed), add], flow=Flow.STACK
        )

    def back(self) -> bool:
        """Clear the search."""
        if not self.field_text(_SEARCH) and not self.state.get("focus"):
            return False
        self.drop_field(_SEARCH)
        self.focus("")
        return True

    def _row(self, row: Row) -> View:
        when = datetime.fromtimestamp(row["modified"] / 1000, tz=self.host.now().tzinfo)
        shown = short_date(when, self.host.now(), is_24=self.host.is_24_hours())
        view = self.widgets.item(
            row["name"],
            summary=f"Modified {shown}",
            names=("entry_label", "doc_status"),
            on_tap=self.act(self._open, row),
        )
        icon = self.widgets.icon("document", ink=self.host.theme.primary)
        view.children.insert(0, icon.sized(ICON_PX))
        return view

    def _open(self, row: Row) -> None:
        self.open(KIX, {"fields": fields_of({DOCUMENT_BODY: row["body"]})}, document=row["_id"])

    def _create(self) -> None:
        number = add_document(
            self.store, "Untitled document", DOCUMENT, int(self.host.now_s() * 1000)
        )
        self.open(KIX, {"focus": DOCUMENT_BODY}, document=number)


class DocumentScreen(Screen):
    """One document; changes are saved immediately."""

    activity = KIX
    multiline = frozenset({DOCUMENT_BODY})

    def content(self) -> View:
        """Show the text."""
        row = load_document(self.store, self._number)
        back = self.act(self.finish)
        if row is None:
            gone = self.widgets.empty("document", "This document does not exist any more")
            return self.widgets.column(self.widgets.bar("", on_back=back), gone)
        rename = self.widgets.icon_button("edit", "Rename", self.act(self._ask, row["name"]))
        bar = self.widgets.bar(row["name"], on_back=back, actions=(rename,))
        bar.children[1].name = "document_title"
        body = self.field(
            DOCUMENT_BODY, hint="Tap to write", label="Document", framed=False, lines=400
        ).at_least(dp(320))
        return self.widgets.column(
            bar, self.widgets.line(), self.widgets.list_of("editor", [body], self.offset("editor"))
        )

    def dialog(self) -> View | None:
        """Ask for a name."""
        if not self.state.get("renaming"):
            return None
        field = self.field(_NAME, hint="Name")
        return self.widgets.ask_text(
            "Rename document", field, "Rename", self._rename, self.act(self.back)
        )

    def back(self) -> bool:
        """Close the question."""
        self.drop_field(_NAME)
        return bool(self.state.pop("renaming", False))

    def submit(self, name: str) -> None:
        """Accept the name."""
        if name == _NAME:
            self._rename()

    def edited(self, name: str) -> None:
        """Save the text."""
        if name == DOCUMENT_BODY:
            text, now_ms = self.field_text(name), int(self.host.now_s() * 1000)
            write_document(self.store, self._number, text, now_ms)

    @property
    def _number(self) -> int:
        return int(self.entry.arguments.get("document", 0))

    def _ask(self, name: str) -> None:
        self.state["renaming"] = True
        self.put_field(_NAME, name)
        self.focus(_NAME)
        self.state["marked"] = _NAME

    def _rename(self) -> None:
        name = self.field_text(_NAME).strip()
        if name:
            rename_document(self.store, self._number, name)
        self.back()
