"""What a custom image has beside its disk: how its machines are made and tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import ImageCorruptError
from images.custom.declaration import ImageFile, Machine, Session

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from images.recipe import Image

_FILE = "image.json"


class ImageProduct(BaseModel):
    """The content of ``image.json`` in the folder of a built image.

    Attributes:
        layer: key of the layer that is the image's tree; empty for a shipped desktop.
        lineage: names of the image and of its custom parents.
        machine: size of its machines, including what its parents say.
        session: what happens in the boot before a machine is saved, the parents' part first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    layer: str = ""
    lineage: tuple[str, ...] = ()
    machine: Machine = Machine()
    session: Session = Session()

    @classmethod
    def of(cls, image: Image) -> Self:
        """Return that of an image; an empty one for a shipped desktop.

        Raises:
            ImageCorruptError: it is not readable.
        """
        return cls.read(image.path)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return that of the image in a folder; an empty one for a shipped desktop.

        Raises:
            ImageCorruptError: it is not readable.
        """
        path = product_path(folder)
        if not path.is_file():
            return cls()
        try:
            return cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as exc:
            raise ImageCorruptError(
                f"The image in {folder} has no readable {_FILE}.",
                details=str(exc),
                resolution="Run `mesocosm image build` with its folder and --force.",
            ) from exc

    @classmethod
    def inherit(cls, parent: ImageProduct, content: ImageFile, layer: str, name: str) -> Self:
        """Return that of an image on a parent."""
        session, own = parent.session, content.session
        machine = {
            **parent.machine.model_dump(exclude_none=True),
            **content.machine.model_dump(exclude_none=True),
        }
        return cls(
            layer=layer,
            lineage=(name, *parent.lineage),
            machine=Machine.model_validate(machine),
            session=Session(
                start=(*session.start, *own.start),
                run=(*session.run, *own.run),
                ready=(*session.ready, *own.ready),
                timeout_s=max(session.timeout_s, own.timeout_s),
            ),
        )


def product_path(folder: Path) -> Path:
    """Return the path of the file in the folder of an image."""
    return folder / _FILE


def sizes_of(image: Image) -> dict[str, int]:
    """Return the settings that an image's size of machines replaces, by name."""
    machine = ImageProduct.of(image).machine
    sizes = {"desktop_memory_mib": machine.memory_mib, "desktop_cpus": machine.cpus}
    return {name: value for name, value in sizes.items() if value is not None}
