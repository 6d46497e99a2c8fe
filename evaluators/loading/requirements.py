"""What a suite requires of the images of its desktops."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from foundation.strict import Strict
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from evaluators.model.task import Task

_APP = re.compile(r"^([a-z0-9][a-z0-9+.-]+)(?:\s*(>=|=)\s*([A-Za-z0-9.+:~-]+))?$")


@dataclass(frozen=True, slots=True)
class AppRequirement:
    """An application that a desktop must have.

    Attributes:
        package: package of the distribution that contains it.
        comparison: ``>=``, ``=``, or empty if any version will do.
        version: version to compare with, without the distribution's revision, such as ``2.10``.
    """

    package: str
    comparison: str = ""
    version: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.package, self.comparison, self.version)))


class Requirements(Strict):
    """The key ``requires`` of ``suite.yaml``.

    Attributes:
        image: image of the desktops of tasks that name none.
        app: applications that all desktops of the suite must have, such as ``gimp >= 2.10``.
    """

    image: str = Field(
        default="", pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*(:[A-Za-z0-9][A-Za-z0-9._-]*)?)?$"
    )
    app: Annotated[tuple[str, ...], Field(strict=False)] = ()

    @field_validator("app", mode="before")
    @classmethod
    def _accept_one(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("app")
    @classmethod
    def _understand(cls, apps: tuple[str, ...]) -> tuple[str, ...]:
        for text in apps:
            if not _APP.match(text):
                message = "{text} is not a package with a version, such as 'gimp >= 2.10'."
                raise PydanticCustomError("app", message, {"text": repr(text)})
        return apps

    @property
    def apps(self) -> tuple[AppRequirement, ...]:
        """Return the required applications."""
        matches = [_APP.match(text) for text in self.app]
        return tuple(
            AppRequirement(match[1], match[2] or "", match[3] or "") for match in matches if match
        )


def with_image(task: Task, image: str) -> Task:
    """Return a task whose desktops are of an image, unless it names others."""
    if not image:
        return task
    roles = {
        role: replace(spec, image=image) if spec.kind == DESKTOP and not spec.image else spec
        for role, spec in task.roles.items()
    }
    return task.model_copy(update={"roles": roles})
