"""Simulated user of a phone that runs in the test process."""

from __future__ import annotations

import io
from html import escape
from typing import TYPE_CHECKING

from PIL import Image

from images.phone.device.commands.catalog import Commands
from images.phone.device.config import DeviceConfig
from images.phone.device.phone import Phone
from images.phone.device.store.database import Store
from tests.standins.local_phone import center_of

if TYPE_CHECKING:
    from pathlib import Path


class User:
    """Simulated phone user, who sees and touches the screen.

    Args:
        folder: folder for the phone's root.
    """

    def __init__(self, folder: Path) -> None:
        self.config = DeviceConfig(folder, folder / "state", folder / "bin")
        self.config.make_folders()
        self.phone = Phone(Store(self.config.database), folder)
        self.commands = Commands(self.phone, self.config)

    def close(self) -> None:
        """Close the phone's database."""
        self.phone.store.close()

    def tap(self, *names: str) -> None:
        """Tap on several elements, one after the other."""
        for name in names:
            self.phone.tap(*center_of(self.phone.compositor.dump(), escape(name)))

    def sees(self, name: str) -> bool:
        """Return whether an element with this name is on the screen."""
        return f'="{escape(name)}"' in self.phone.compositor.dump()

    def run(self, *argv: str) -> str:
        """Run one of Android's commands."""
        result = self.commands.run(list(argv), self.config.root)
        assert result.exit_code == 0, result.stderr
        return result.stdout.decode()

    def front(self) -> str:
        """Return the package in front."""
        return self.phone.stack.front.package

    def check_screen(self) -> None:
        """Verify the picture: correct size, not empty, no overlapping texts."""
        display = self.phone.display
        with Image.open(io.BytesIO(self.phone.compositor.screenshot())) as image:
            assert image.size == (display.width_px, display.height_px)
            small = image.resize((image.width // 6, image.height // 6), Image.Resampling.NEAREST)
            assert len(small.getcolors(small.width * small.height) or ()) > 5
        leaves = [
            view
            for view in self.phone.compositor.scene().window.walk()
            if view.text and not view.children and not view.is_silent and not view.clip.is_empty
        ]
        for index, leaf in enumerate(leaves):
            for other in leaves[index + 1 :]:
                assert leaf.clip.cut(other.clip).is_empty, (leaf.text, other.text)
