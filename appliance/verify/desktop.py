"""Review a desktop of an image, with the same review as before a desktop is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import MesocosmError
from provisioning.fleet.local import LocalFleet
from provisioning.registry import BACKENDS
from provisioning.resource import DESKTOP, ResourceSpec
from provisioning.review.desktop import review_desktop

if TYPE_CHECKING:
    from collections.abc import Callable

    from foundation.settings import Settings
    from provisioning.review.desktop import Review

_BACKENDS = {
    entry.recipe: entry.name for entry in BACKENDS if entry.kind == DESKTOP and entry.recipe
}
IMAGES = frozenset(_BACKENDS)
"""Images whose desktops can be reviewed."""


def review_image(name: str, settings: Settings, say: Callable[[str], None]) -> Review:
    """Lease a desktop of the current image, creating one if there is none, and review it.

    Args:
        name: one of `IMAGES`.
        settings: specify the distribution.
        say: called with a one-line message about anything that takes long.

    Raises:
        DesktopFaultyError: the fresh desktop has faults.
        MesocosmError: no desktop is available, for example while the appliance is down.
    """
    chosen = settings.model_copy(update={"desktop": _BACKENDS[name]})
    with LocalFleet(chosen, say=say).acquire({DESKTOP: ResourceSpec(DESKTOP)}) as lease:
        machine = lease.environment.machines["desktop"]
        review = review_desktop(machine)
        machine_id = machine.info.machine_id
        review.require_faultless(machine_id, settings.refused_dir / f"{machine_id}.png")
    return review


def describe_review(name: str, settings: Settings, say: Callable[[str], None]) -> dict[str, str]:
    """Review a desktop of an image; return columns ``screen``, and ``state`` if it has faults.

    Args: those of `review_image`.
    """
    try:
        review = review_image(name, settings, say)
    except MesocosmError as exc:
        cause = f"{exc.brief} {exc.details}".strip()
        return {"state": exc.code, "cause": cause, "cure": exc.resolution, "screen": "not verified"}
    return {"screen": "; ".join(review.warnings) or "as reviewed"}
