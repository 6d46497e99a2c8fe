"""Judge all images that an appliance needs, and keep what was found for the controller.

The controller's container has other files than the host, so it cannot judge recipes itself: it reads
what the last command on the host found.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import ImageError
from appliance.base.files import write_atomic
from images.builder import Builder
from images.catalog import NAMES
from images.currency import Currency, ImageState, judge_images
from images.recording import record_recipes
from provisioning.desktop.registry import DESKTOPS
from provisioning.phone.profile import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

    from appliance.base.clock import Clock
    from appliance.base.settings import Settings

_FILE = "currency.json"
_log = logging.getLogger(__name__)


class _Kept(BaseModel):
    """What was found, and when, unix time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    judged_s: float
    images: dict[str, Currency]


def read_currency(settings: Settings, *, clock: Clock = SYSTEM_CLOCK) -> list[ImageState]:
    """Judge every image that the appliance needs, and keep what was found; on a host, recipes too.

    Raises:
        RequirementError: the Docker engine does not answer.
    """
    try:
        states = judge_images(needed_names(settings), Builder(settings))
    except ImageError as exc:
        _log.warning("images could not be judged: %s", exc)
        return []
    kept = _Kept(judged_s=clock.now_s(), images={state.name: state.currency for state in states})
    try:
        if settings.images_dir.is_dir():
            write_atomic(_path(settings), kept.model_dump_json())
        if settings.place == "host":
            record_recipes(recorded_names(settings), settings)
    except OSError as exc:
        _log.warning("what was found of images could not be kept: %s", exc)
    return states


def needed_names(settings: Settings) -> tuple[str, ...]:
    """Return the images that an appliance of these settings needs."""
    return tuple(dict.fromkeys((*NAMES, *DESKTOPS[settings.desktop].images)))


def recorded_names(settings: Settings) -> list[str]:
    """Return the images that processes in containers may ask about: needed ones, those of machines, noVNC."""
    of_machines = (*DESKTOPS[settings.desktop].images, PROFILES[settings.phone].image)
    return list(dict.fromkeys((*needed_names(settings), *of_machines, "novnc")))


def kept_currency(settings: Settings) -> dict[str, Currency]:
    """Return what a command on the host found last, by image; empty when none looked."""
    try:
        return dict(_Kept.model_validate_json(_path(settings).read_bytes()).images)
    except (OSError, ValidationError):
        return {}


def with_currency(rows: list[dict[str, Any]], states: list[ImageState]) -> list[dict[str, Any]]:
    """Add to the rows of built images how they stand to today's recipes, and missing images."""
    judged = {(image.name, image.variant): image for image in states}
    newest: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (row["name"], row.get("variant", ""))
        newest[key] = max(newest.get(key, ""), row.get("built_at", ""))
    shown = []
    for row in rows:
        key = (row["name"], row.get("variant", ""))
        if "state" in row or key not in judged:  # damaged, or of other settings
            shown.append(row)
        elif row["built_at"] != newest[key]:
            shown.append(row | {"currency": "old", "reason": "A newer one was built."})
        else:
            state = judged[key]
            shown.append(row | {"currency": str(state.currency), "reason": state.reason})
    listed = {(row["name"], row.get("variant")) for row in rows}
    return shown + [image.to_dict() for key, image in judged.items() if key not in listed]


def _path(settings: Settings) -> Path:
    return settings.images_dir / _FILE
