"""The Camera application, which saves pictures of a drawn landscape to ``/sdcard/DCIM/Camera``."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from PIL import Image

from images.phone.device.apps.directory import PHOTOS
from images.phone.device.apps.files import PHOTO
from images.phone.device.apps.screen import Screen
from images.phone.device.apps.views import landscape
from images.phone.device.store.media import free_name, list_folder, read_picture, stamp_of
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.theme import rgb
from images.phone.device.ui.view import Align, Flow, Look, View

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "DCIM/Camera"
_SIZE = (1440, 1080)
_QUALITY = 85
_BLACK, _WHITE = rgb("101010"), (255, 255, 255)


@lru_cache(maxsize=24)
def thumbnail(
    shared_dir: Path | None, path: str, stamp: int, width: int, height: int
) -> Image.Image:
    """Return the centre of a picture, scaled, as RGB; grey if the picture is unreadable.

    Args:
        shared_dir: the folder of shared files.
        path: path of the picture.
        stamp: modification stamp of the picture; changes with its content.
        width: px.
        height: px.
    """
    del stamp
    image = read_picture(shared_dir, path)
    if image is None:
        return Image.new("RGB", (width, height), (128, 128, 128))
    scale = max(width / image.width, height / image.height)
    size = (max(width, round(image.width * scale)), max(height, round(image.height * scale)))
    large = image.resize(size, Image.Resampling.BILINEAR)
    left, top = (large.width - width) // 2, (large.height - height) // 2
    return large.crop((left, top, left + width, top + height))


class CameraScreen(Screen):
    """The viewfinder, a shutter button, and the most recent picture."""

    activity = "com.android.camera.CameraLauncher"
    ground = _BLACK

    def content(self) -> View:
        """Show the camera's view."""
        is_wide = self.host.display.is_wide
        view = View(
            "android.view.TextureView",
            "preview_content",
            label="Viewfinder",
            look=Look(picture=partial(landscape, self._seed)),
            weight=1,
        )
        taken = [entry for entry in list_folder(self.host.shared_dir, FOLDER) if entry.is_picture]
        shutter = View(
            "ImageView",
            "shutter_button",
            label="Shutter",
            width_px=dp(72),
            height_px=dp(72),
            look=Look(fill=_WHITE, radius_px=dp(36)),
            on_tap=self._shoot,
        )
        last = View(width_px=dp(56), height_px=dp(56), is_silent=True)
        if taken:
            newest = max(taken, key=lambda entry: (entry.modified_s, entry.path))
            stamp = stamp_of(self.host.shared_dir, newest.path)
            last = View(
                "ImageView",
                "rounded_thumbnail_view",
                label="Most recent photo",
                width_px=dp(56),
                height_px=dp(56),
                look=Look(picture=partial(thumbnail, self.host.shared_dir, newest.path, stamp)),
                on_tap=self.act(lambda: self.start(PHOTOS, PHOTO, path=newest.path)),
            )
        rests = [View(weight=1, is_silent=True) for _ in range(4)]
        blank = View(width_px=dp(56), height_px=dp(56), is_silent=True)
        bar = View(
            "LinearLayout",
            "bottom_bar",
            children=[rests[0], last, rests[1], shutter, rests[2], blank, rests[3]],
            flow=Flow.DOWN if is_wide else Flow.ACROSS,
            align=Align.CENTER,
            look=Look(fill=_BLACK),
            width_px=dp(120) if is_wide else None,
            height_px=None if is_wide else dp(140),
        )
        return View(
            "FrameLayout",
            "camera_app_root",
            children=[view, bar],
            flow=Flow.ACROSS if is_wide else Flow.DOWN,
        )

    def stamp(self) -> object:
        """Return a value that changes with the set of pictures."""
        return list_folder(self.host.shared_dir, FOLDER)

    @property
    def _seed(self) -> int:
        """Seed of the camera's view, which changes after each picture."""
        return int(self.state.get("shots", 0))

    def _shoot(self) -> None:
        shared_dir = self.host.shared_dir
        if shared_dir is None:
            self.toast("There is no storage")
            return
        now = self.host.now()
        try:
            (shared_dir / FOLDER).mkdir(parents=True, exist_ok=True)
            path = free_name(shared_dir, FOLDER, f"IMG_{now:%Y%m%d_%H%M%S}.jpg")
            landscape(self._seed, *_SIZE).save(shared_dir / path, quality=_QUALITY)
        except OSError as exc:
            self.toast(f"The photo was not saved: {exc.strerror}")
            return
        self.state["shots"] = self._seed + 1
        self.toast("Photo saved")
