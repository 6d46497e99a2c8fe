"""A recipe for tests, and a program that builds it in its own process."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.process import run, start
from foundation.settings import Settings
from images.builder import Builder
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from images.recipe import Image, Recipe, Report


def write_disk(workdir: Path) -> None:
    """Create the content of a stub image."""
    (workdir / "disk.img").write_bytes(b"0123456789" * 1000)
    (workdir / "boot").mkdir()
    (workdir / "boot" / "kernel").write_bytes(b"kernel")


def write_other(workdir: Path) -> None:
    """Create different content."""
    (workdir / "other").write_text("other")


def make_nothing(workdir: Path) -> None:
    """Leave the work folder empty."""


class HostTools:
    """QEMU's programs of this host, where tests have them."""

    def run(self, *argv: str, timeout_s: float) -> None:
        run(list(argv), timeout_s=timeout_s).require()


@dataclass
class StubRecipe:
    """A recipe that writes two files and counts its builds in a file outside the image."""

    log: Path
    name: str = "stub"
    variant: str = "one"
    needs: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    content: str = ""
    work: Callable[[Path], None] = write_disk
    seen: list[Mapping[str, Image]] = field(default_factory=list)

    def inputs(self) -> Mapping[str, object]:
        return {"content": self.content}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        with self.log.open("a") as log:
            log.write(f"{self.name} {workdir}\n")
        self.seen.append(needed)
        report("write", 0.5, f"writing {self.name}")
        self.work(workdir)
        return Product(packages={"bash": "5.2"}, notes={"origin": "stub"})

    @property
    def builds(self) -> int:
        """The number of builds, by any process."""
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


def builder_of(state_dir: Path, *recipes: StubRecipe) -> Builder:
    """Return a builder with only these recipes."""
    by_name: dict[str, Recipe] = {recipe.name: recipe for recipe in recipes}
    return Builder(Settings(state_dir=state_dir), make=lambda name, _settings: by_name[name])


def main() -> None:
    """Build a stub whose work never ends: its helper writes files into the work folder."""
    state_dir, log = Path(sys.argv[1]), Path(sys.argv[2])

    def hang(workdir: Path) -> None:
        (workdir / "half").write_bytes(b"half made")
        script = f"while :; do date > '{workdir}/more'; sleep 0.01; done"
        helper = start(["sh", "-c", script])
        sys.stdout.write(f"{helper.pid}\n")
        sys.stdout.flush()
        run(["sleep", "600"], timeout_s=600)

    builder_of(state_dir, StubRecipe(log, work=hang)).ensure("stub")


if __name__ == "__main__":
    main()
