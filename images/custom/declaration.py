"""Data model of ``image.yaml``: the content of an image of one's own."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from zoneinfo import available_timezones

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from foundation.errors import nearest
from foundation.strict import Name, Strict
from images.custom.steps import (  # noqa: TC001  (pydantic reads them)
    Command,
    GuestPath,
    Owner,
    Step,
)

FILE = "image.yaml"
SCHEMA_VERSION = 1
_MIN_DISK_GIB, _MAX_DISK_GIB = 12, 256
"""The smallest is the size of the shipped desktops' disk."""


class SessionCommand(Strict):
    """A command in the running session, before the machine is saved.

    Attributes:
        run: a shell command.
        run_as: who runs it; written as ``as``.
        timeout_s: seconds after which the build fails.
    """

    run: Command
    run_as: Owner = Field(default="user", alias="as")
    timeout_s: float = Field(default=120.0, gt=0, le=1800)


class Readiness(Strict):
    """A condition for saving the machine; exactly one key.

    Attributes:
        window: text in the title of a window that is open.
        process: name of a process that runs.
        file: path of a file that exists.
        command: shell command of the user that ends with exit code 0.
    """

    window: str | None = Field(default=None, min_length=1)
    process: str | None = Field(default=None, min_length=1)
    file: GuestPath | None = None
    command: Command | None = None

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if sum(value is not None for value in self.model_dump().values()) != 1:
            known = ", ".join(type(self).model_fields)
            message = "a condition has exactly one of {known}."
            raise PydanticCustomError("one_condition", message, {"known": known})
        return self

    def __str__(self) -> str:
        """Return the condition in one line."""
        return next(f"{key} {value!r}" for key, value in self.model_dump(exclude_none=True).items())


class Session(Strict):
    """What happens in the one boot after the build.

    Attributes:
        start: commands of programs that are open at the start of every trial.
        run: commands in the running session.
        ready: conditions for saving the machine.
        timeout_s: seconds until all conditions must hold.
    """

    start: tuple[Command, ...] = Field(default=(), strict=False)
    run: tuple[SessionCommand, ...] = Field(default=(), strict=False)
    ready: tuple[Readiness, ...] = Field(default=(), strict=False)
    timeout_s: float = Field(default=180.0, gt=0, le=1800)


class Machine(Strict):
    """Size of the image's machines; what is omitted is as for the parent's.

    Attributes:
        memory_mib: RAM of a VM, MiB.
        cpus: virtual CPUs of a VM.
        disk_gib: size of the disk, GiB.
        screen: width and height in px, such as ``1280x800``.
    """

    memory_mib: int | None = Field(default=None, ge=1024, le=262144)
    cpus: int | None = Field(default=None, ge=1, le=64)
    disk_gib: int | None = Field(default=None, ge=_MIN_DISK_GIB, le=_MAX_DISK_GIB)
    screen: str | None = Field(default=None, pattern=r"^[1-9][0-9]{2,3}x[1-9][0-9]{2,3}$")

    @field_validator("screen")
    @classmethod
    def _require_supported(cls, screen: str | None) -> str | None:
        if screen is not None:
            width, height = map(int, screen.split("x"))
            if (
                width % 8
                or width * height > _MAX_PIXELS
                or (width, height) < _SMALLEST
                or height < _SMALLEST[1]
            ):
                message = "{screen} is not supported: 640x480 to 1920x1200, width a multiple of 8."
                raise PydanticCustomError("screen", message, {"screen": screen})
        return screen


_SMALLEST = (640, 480)
_MAX_PIXELS = 1920 * 1200


class ImageFile(Strict):
    """The content of ``image.yaml``.

    Attributes:
        name: name of the image, which tasks write as ``image``.
        extends: its parent: a shipped desktop such as ``ubuntu-22.04``, ``desktop`` for this
            appliance's default, another custom image by name, or its folder, such as ``../office``.
        description: what it is for.
        steps: the steps of the build; each is a layer, cached by its content and what precedes it.
        session: what happens in the one boot after the build.
        machine: size of its machines.
        locale: such as ``de_DE.UTF-8``: formats, and translations of packages installed by it.
        timezone: such as ``Europe/Berlin``.
    """

    name: Name
    extends: str = Field(min_length=1, max_length=256)
    description: str = Field(default="", max_length=2000)
    steps: tuple[Step, ...] = Field(default=(), strict=False, max_length=100)
    session: Session = Session()
    machine: Machine = Machine()
    locale: Annotated[str, Field(pattern=r"^[a-z]{2,3}_[A-Z]{2}(\.UTF-8)?$")] | None = None
    timezone: str | None = None

    @field_validator("timezone")
    @classmethod
    def _know_timezone(cls, timezone: str | None) -> str | None:
        zones = available_timezones()  # none on a host without time zone data
        if timezone is not None and zones and timezone not in zones:
            near = nearest(timezone, sorted(zones))
            hint = f" Did you mean {near[0]!r}?" if near else ""
            message = "There is no time zone called {name}.{hint}"
            context = {"name": repr(timezone), "hint": hint}
            raise PydanticCustomError("timezone", message, context)
        return timezone


class VersionedImageFile(ImageFile):
    """The content of ``image.yaml`` with its schema version, as published.

    Attributes:
        schema_version: version of the format.
    """

    schema_version: Literal[1]


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``image.yaml``."""
    schema = VersionedImageFile.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
