"""The Photos application: all pictures of the shared files."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from PIL import Image

from images.phone.device.apps.camera import thumbnail
from images.phone.device.apps.files import PHOTO
from images.phone.device.apps.screen import Screen
from images.phone.device.apps.times import long_date
from images.phone.device.store.media import (
    FileEntry,
    delete_path,
    list_pictures,
    read_picture,
    resolve,
    size_text,
    stamp_of,
)
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Flow, Look, View
from images.phone.device.ui.widgets import SMALL_PX

_GAP_PX = dp(2)
_EN_SPACE = "\u2002"
_UPLOAD = "com.google.android.apps.photos.upload.intent.UploadContentActivity"


class PhotosScreen(Screen):
    """All pictures, newest first."""

    activity = "com.google.android.apps.photos.home.HomeActivity"

    def content(self) -> View:
        """Show the pictures as a grid, grouped by day."""
        rows: list[View] = []
        days: dict[str, list[FileEntry]] = {}
        for entry in list_pictures(self.host.shared_dir):
            when = datetime.fromtimestamp(entry.modified_s, tz=self.host.now().tzinfo)
            days.setdefault(f"{when:%A}, {long_date(when)}", []).append(entry)
        for day, entries in days.items():
            head = self.widgets.text(day, "date_header", size_px=SMALL_PX, bold=True)
            head.padding_px = (dp(16), dp(16), dp(16), dp(8))
            rows += [head, *self._grid(entries)]
        if not rows:
            rows = [self.widgets.empty("photos", "No photos")]
        listed = self.widgets.list_of("recycler_view", rows, self.offset("recycler_view"))
        listed.gap_px = _GAP_PX
        return self.widgets.column(self.widgets.bar("Photos"), listed)

    def stamp(self) -> object:
        """Return a value that changes with the set of pictures."""
        return list_pictures(self.host.shared_dir)

    def _grid(self, entries: list[FileEntry]) -> list[View]:
        columns = 6 if self.host.display.is_wide else 3
        side = (self.host.display.width_px - (columns - 1) * _GAP_PX) // columns
        return [
            self.widgets.row(
                *(self._cell(entry, side) for entry in entries[start : start + columns]),
                gap_px=_GAP_PX,
            )
            for start in range(0, len(entries), columns)
        ]

    def _cell(self, entry: FileEntry, side: int) -> View:
        shared_dir, stamp = self.host.shared_dir, stamp_of(self.host.shared_dir, entry.path)
        when = datetime.fromtimestamp(entry.modified_s, tz=self.host.now().tzinfo)
        return View(
            "android.view.ViewGroup",
            "photo_tile",
            label=f"Photo {entry.name} taken on {long_date(when)}",
            width_px=side,
            height_px=side,
            look=Look(picture=partial(thumbnail, shared_dir, entry.path, stamp)),
            on_tap=self.act(self.open, PHOTO, path=entry.path),
        )


class PhotoScreen(Screen):
    """One picture."""

    activity = PHOTO

    def content(self) -> View:
        """Show the picture, or its details."""
        actions = (
            self.widgets.icon_button(
                "info", "Details", self.set(details=not self.state.get("details")), name="details"
            ),
            self.widgets.icon_button("delete", "Delete", self.set(asking=True), name="trash"),
        )
        bar = self.widgets.bar("", on_back=self.act(self.finish), actions=actions)
        picture = View(
            "android.view.ViewGroup",
            "photo_view",
            label=f"Photo {self._name}",
            look=Look(picture=partial(self._fitted, self.host.theme.background)),
            weight=1,
        )
        upload = self.widgets.row(
            self.widgets.chip(
                "Back up", self.act(lambda: self.open(_UPLOAD, path=self._path)), name="upload"
            )
        )
        upload.padding_px = (dp(16), dp(8), dp(16), dp(8))
        parts = [bar, View("FrameLayout", "filmstrip_layout", children=[picture], weight=1)]
        return self.widgets.column(
            *parts, *(self._details() if self.state.get("details") else [upload])
        )

    def dialog(self) -> View | None:
        """Ask before deleting."""
        if not self.state.get("asking"):
            return None
        return self.widgets.question(
            f"Move {self._name} to the bin?", "Move to bin", self._delete, self.set(asking=False)
        )

    def back(self) -> bool:
        """Close the question or the details."""
        was_open = self.state.pop("asking", False) or self.state.pop("details", False)
        return bool(was_open)

    def stamp(self) -> object:
        """Return the modification time of the picture."""
        return stamp_of(self.host.shared_dir, self._path)

    def swipe(self, dx: int, dy: int) -> None:
        """Show the details on a swipe up, and another picture on a horizontal swipe."""
        if abs(dy) > abs(dx):
            self.state["details"] = dy < 0
            return
        paths = [entry.path for entry in list_pictures(self.host.shared_dir)]
        if self._path in paths:
            place = paths.index(self._path) + (1 if dx < 0 else -1)
            if 0 <= place < len(paths):
                self.entry.arguments["path"] = paths[place]

    @property
    def _path(self) -> str:
        return str(self.entry.arguments.get("path", ""))

    @property
    def _name(self) -> str:
        return self._path.rpartition("/")[2]

    def _fitted(self, ground: tuple[int, int, int], width: int, height: int) -> Image.Image:
        layer = Image.new("RGB", (width, height), ground)
        image = read_picture(self.host.shared_dir, self._path)
        if image is not None:
            scale = min(width / image.width, height / image.height)
            size = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
            part = image.resize(size, Image.Resampling.BILINEAR)
            layer.paste(part, ((width - size[0]) // 2, (height - size[1]) // 2))
        return layer

    def _details(self) -> list[View]:
        real = resolve(self.host.shared_dir, self._path)
        if real is None or not real.is_file():
            return [self.widgets.item("This photo does not exist any more")]
        info = real.stat()
        when = datetime.fromtimestamp(info.st_mtime, tz=self.host.now().tzinfo)
        time = f"{when:%b} {when.day}, {when.year}{_EN_SPACE}\u2022{_EN_SPACE}{when:%H:%M}"
        image = read_picture(self.host.shared_dir, self._path)
        size = f"{image.width} \u00d7 {image.height}" if image is not None else "unreadable"
        date = self.widgets.item(
            time, summary=f"{when:%A}", icon="event", names=("label", "caption")
        )
        date.name = "datetime_item_layout"
        file = self.widgets.item(
            self._name,
            summary=f"{size} \u00b7 {size_text(info.st_size)} \u00b7 /sdcard/{self._path}",
            icon="image",
            names=("label", "caption"),
        )
        file.name = "exif_item_layout"
        return [self.widgets.line(), date, file]

    def _delete(self) -> None:
        done = delete_path(self.host.shared_dir, self._path)
        self.toast("Moved to bin" if done else "Deleting failed")
        self.finish()


class UploadScreen(Screen):
    """The question whether to back up a picture; there is no server, so it stays on the phone."""

    activity = _UPLOAD

    def content(self) -> View:
        """Show the picture's name and the two answers."""
        name = str(self.entry.arguments.get("path", "")).rpartition("/")[2]
        bar = self.widgets.bar("Upload to Photos", on_back=self.act(self.finish))
        row = self.widgets.item(name, summary="1 item selected", icon="image")
        buttons = self.widgets.buttons(
            self.widgets.button("Cancel", self.act(self.finish), name="cancel_button"),
            self.widgets.button("Upload", self._upload, name="upload_button", filled=True),
        )
        rest = View("FrameLayout", weight=1, flow=Flow.STACK, is_silent=True)
        return self.widgets.column(bar, row, rest, self.widgets.padded(buttons))

    def _upload(self) -> None:
        self.toast("Waiting for a connection")
        self.finish()
