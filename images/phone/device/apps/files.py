"""The Files application: the folder of shared files."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from images.phone.device.apps.directory import PHOTOS
from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import short_date
from images.phone.device.store.media import (
    FileEntry,
    delete_path,
    list_folder,
    make_folder,
    read_text,
    rename_path,
    size_text,
    stamp_of,
    transfer,
)
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.widgets import ICON_PX, SMALL_PX

if TYPE_CHECKING:
    from images.phone.device.ui.view import View
    from images.phone.device.ui.widgets import Act

PHOTO = "com.google.android.apps.photos.pager.HostPhotoPagerActivity"
_NAME = "android:id/text1"


class FilesScreen(Screen):
    """The content of one folder."""

    activity = "com.android.documentsui.files.FilesActivity"

    @property
    def folder(self) -> str:
        """The open folder, relative to ``/sdcard``."""
        return str(self.state.get("folder", ""))

    def content(self) -> View:
        """Show files and folders, or the text of a file."""
        shown = self.state.get("text")
        if shown:
            return self._text(str(shown))
        name = self.folder.rpartition("/")[2]
        actions = [self.widgets.icon_button("new_folder", "New folder", self.act(self._ask, "new"))]
        if self.state.get("carried"):
            actions.insert(0, self.widgets.button("Paste", self._paste, name="paste"))
        bar = self.widgets.bar(
            name or "Internal storage",
            on_back=self.act(self.back) if name else None,
            actions=tuple(actions),
        )
        rows = [self._row(entry) for entry in list_folder(self.host.shared_dir, self.folder)]
        if not rows:
            rows = [self.widgets.empty("folder", "No items")]
        return self.widgets.column(
            bar, self.widgets.list_of("dir_list", rows, self.offset("dir_list"))
        )

    def stamp(self) -> object:
        """Return a value that changes with the content of the folder."""
        shown = str(self.state.get("text") or "")
        return list_folder(self.host.shared_dir, self.folder), stamp_of(self.host.shared_dir, shown)

    def dialog(self) -> View | None:
        """Show the actions for a file, or ask for a name."""
        menu, close = self.state.get("menu"), self.act(self.back)
        chosen = str(self.state.get("chosen", ""))
        name = chosen.rpartition("/")[2]
        if menu == "entry":
            entries: list[tuple[str, Act]] = [
                ("Copy", self.act(self._carry, "copy")),
                ("Move", self.act(self._carry, "move")),
                ("Rename", self.act(self._ask, "rename", name)),
                ("Delete", self.set(menu="delete")),
            ]
            return self.widgets.menu(name, entries, close)
        if menu == "delete":
            return self.widgets.question(
                f"Delete \u201c{name}\u201d?", "Delete", self._delete, close
            )
        if menu in {"new", "rename"}:
            title = "New folder" if menu == "new" else "Rename"
            field = self.field(_NAME, hint="Name")
            return self.widgets.ask_text(title, field, "OK", self._take_name, close)
        return None

    def back(self) -> bool:
        """Close an open part of the screen, or go to the parent folder."""
        if self.state.pop("menu", None):
            self.drop_field(_NAME)
            return True
        if self.state.pop("text", None):
            return True
        if not self.folder:
            return False
        self.state["folder"] = self.folder.rpartition("/")[0]
        self.state.pop("scroll", None)
        return True

    def submit(self, name: str) -> None:
        """Accept the name."""
        del name
        self._take_name()

    def _row(self, entry: FileEntry) -> View:
        when = datetime.fromtimestamp(entry.modified_s, tz=self.host.now().tzinfo)
        day = short_date(when, self.host.now(), is_24=self.host.is_24_hours())
        summary = day if entry.is_folder else f"{day}, {size_text(entry.size_bytes)}"
        more = self.widgets.icon_button(
            "more", f"More options for {entry.name}", self.set(menu="entry", chosen=entry.path)
        )
        view = self.widgets.item(
            entry.name,
            summary=summary,
            names=("android:id/title", "date"),
            on_tap=self.act(self._open, entry),
            trailing=more,
        )
        icon = "folder" if entry.is_folder else "image" if entry.is_picture else "file"
        view.children.insert(0, self.widgets.icon(icon).sized(ICON_PX))
        view.name = "item_root"
        view.on_hold = self.set(menu="entry", chosen=entry.path)
        return view

    def _open(self, entry: FileEntry) -> None:
        if entry.is_folder:
            self.state["folder"] = entry.path
            self.state.pop("scroll", None)
        elif entry.is_picture:
            self.start(PHOTOS, PHOTO, path=entry.path)
        elif read_text(self.host.shared_dir, entry.path) is not None:
            self.state["text"] = entry.path
            self.state.pop("scroll", None)
        else:
            self.toast("No app can open this file")

    def _text(self, path: str) -> View:
        bar = self.widgets.bar(path.rpartition("/")[2], on_back=self.act(self.back))
        text = read_text(self.host.shared_dir, path)
        body = self.widgets.text(
            text or "This file is empty", "file_text", size_px=SMALL_PX, lines=2000
        )
        body.padding_px = (dp(16), dp(8), dp(16), dp(16))
        return self.widgets.column(bar, self.widgets.list_of("text", [body], self.offset("text")))

    def _ask(self, menu: str, text: str = "") -> None:
        self.state["menu"] = menu
        self.put_field(_NAME, text)
        self.focus(_NAME)

    def _take_name(self) -> None:
        name, shared_dir = self.field_text(_NAME).strip(), self.host.shared_dir
        if self.state.get("menu") == "new":
            done = make_folder(shared_dir, self.folder, name)
        else:
            done = rename_path(shared_dir, str(self.state.get("chosen", "")), name)
        if not done:
            self.toast("That name cannot be used")
        self.back()

    def _carry(self, how: str) -> None:
        self.state.update(carried=[how, self.state.get("chosen", "")], menu=None)
        self.toast("Open the folder to paste into")

    def _paste(self) -> None:
        how, path = self.state.pop("carried")
        done = transfer(self.host.shared_dir, path, self.folder, keep=how == "copy")
        verb = "copied" if how == "copy" else "moved"
        self.toast(f"1 item {verb}" if done else "That cannot be done here")

    def _delete(self) -> None:
        done = delete_path(self.host.shared_dir, str(self.state.get("chosen", "")))
        self.state.pop("menu", None)
        self.toast("1 item deleted" if done else "Deleting failed")
