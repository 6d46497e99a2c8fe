"""The settings of a desktop's user as texts, read in the guest when it was saved by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

SETTINGS = "settings.json"
"""Its file, in the folder of an image."""


class GuestSettings(BaseModel):
    """What differs from the defaults, and the schemas that settings belong to.

    Attributes:
        values: text of each value, in GVariant's notation, by its path, such as ``/org/gnome/…/key``.
        schemas: name of each schema that has a fixed path, by that path, which ends with a slash.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    values: dict[str, str] = {}
    schemas: dict[str, str] = {}

    @classmethod
    def parse(cls, dump: str, schemas: str) -> Self:
        """Return the settings in the output of two programs.

        Args:
            dump: output of ``dconf dump /``.
            schemas: output of ``gsettings list-schemas --print-paths``.

        Source: dconf(1), gsettings(1).
        """
        values: dict[str, str] = {}
        folder = "/"
        for line in dump.splitlines():
            if line.startswith("[") and line.endswith("]"):
                inside = line[1:-1].strip("/")
                folder = f"/{inside}/" if inside else "/"
            elif "=" in line:
                key, _, value = line.partition("=")
                values[folder + key] = value
        rows = (line.split() for line in schemas.splitlines())
        paths = {row[1]: row[0] for row in rows if len(row) == 2}  # noqa: PLR2004
        return cls(values=values, schemas=paths)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return those of an image; none if it was not saved by hand.

        Args:
            folder: folder of the image.
        """
        try:
            return cls.model_validate_json((folder / SETTINGS).read_bytes())
        except (OSError, ValidationError):
            return cls()

    def spell(self, path: str) -> tuple[str, str] | None:
        """Return schema and key of a setting; None if its schema has no fixed path."""
        folder, _, key = path.rpartition("/")
        schema = self.schemas.get(f"{folder}/")
        return None if schema is None else (schema, key)
