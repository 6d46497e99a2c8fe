"""What a role of a task needs: a kind of resource, made from an image, with parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.protocols import Json

DESKTOP = "desktop"
"""The kind of desktops; `provisioning.registry` has all kinds."""
PHONE = "phone"
"""The kind of phones."""
WORLD = "world"
"""The kind of worlds."""


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """The requirements of one role.

    Resources with equal specifications replace each other: they are counted, kept warm and leased
    together.

    Attributes:
        kind: a name in `provisioning.registry`, such as ``desktop``.
        image: variant of the kind's image, such as ``debian-12``; empty for the default.
        parameters: values that its backend understands, such as a seed.
    """

    kind: str
    image: str = ""
    parameters: Mapping[str, Json] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return a text without spaces that only equal specifications share."""
        image = f":{self.image}" if self.image else ""
        if not self.parameters:
            return f"{self.kind}{image}"
        text = json.dumps(dict(self.parameters), sort_keys=True, separators=(",", ":"))
        return self.kind + image + text.replace(" ", "\\u0020")

    def meets(self, need: ResourceSpec) -> bool:
        """Return whether it has the kind, and the image and parameters if any, of another one."""
        return (
            self.kind == need.kind
            and need.image in {"", self.image}
            and need.parameters.items() <= self.parameters.items()
        )

    def __str__(self) -> str:
        return self.key

    def __hash__(self) -> int:
        return hash(self.key)
