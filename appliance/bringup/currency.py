"""Check whether an appliance's images are current, and save the result for the controller.

The controller's container has different files than the host, so it cannot check recipes itself: it
reads the result of the last command on the host.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluators.rendering.image import RENDERER
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import ImageError
from foundation.files import write_atomic
from images.builder import Builder
from images.catalog import NAMES
from images.currency import Currency, ImageState, judge_images
from images.recording import record_recipes
from provisioning.registry import registry

if TYPE_CHECKING:
    from pathlib import Path

    from foundation.clock import Clock
    from foundation.settings import Settings

_FILE = "currency.json"
_log = logging.getLogger(__name__)


class _Kept(BaseModel):
    """Currency of images, and when it was checked, unix time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    judged_s: float
    images: dict[str, Currency]


def read_currency(settings: Settings, *, clock: Clock = SYSTEM_CLOCK) -> list[ImageState]:
    """Check every image that the appliance needs and save the result; on a host, recipes too.

    Raises:
        RequirementError: the Docker engine does not answer.
    """
    try:
        states = judge_images(needed_names(settings), Builder(settings))
    except ImageError as exc:
        _log.warning("cannot check whether images are current: %s", exc)
        return []
    kept = _Kept(judged_s=clock.now_s(), images={state.name: state.currency for state in states})
    try:
        if settings.images_dir.is_dir():
            write_atomic(_path(settings), kept.model_dump_json())
        if settings.place == "host":
            record_recipes(recorded_names(settings), settings)
    except OSError as exc:
        _log.warning("cannot save whether images are current: %s", exc)
    return states


def needed_names(settings: Settings) -> tuple[str, ...]:
    """Return the images that an appliance with these settings needs: services', and machines'."""
    return tuple(dict.fromkeys((*NAMES, *_machine_names(settings, are_on_request=False))))


def recorded_names(settings: Settings) -> list[str]:
    """Return the images that containers may ask about: needed ones, machines' images, others."""
    return list(
        dict.fromkeys(
            (
                *needed_names(settings),
                "novnc",
                RENDERER,
                *_machine_names(settings, are_on_request=True),
            )
        )
    )


def _machine_names(settings: Settings, *, are_on_request: bool) -> list[str]:
    """Return the images of the backends that settings choose, of kinds on request or of the others."""
    table = registry()
    return [
        name
        for kind in table.kinds.values()
        if kind.is_on_request == are_on_request
        for name in table.chosen(kind.name, settings).images
    ]


def kept_currency(settings: Settings) -> dict[str, Currency]:
    """Return the currency that a command on the host saved last, by image; empty if there is none."""
    try:
        return dict(_Kept.model_validate_json(_path(settings).read_bytes()).images)
    except (OSError, ValidationError):
        return {}


def with_currency(rows: list[dict[str, Any]], states: list[ImageState]) -> list[dict[str, Any]]:
    """Add currency to the rows of built images, and rows for missing images."""
    judged = {(image.name, image.variant): image for image in states}
    newest: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (row["name"], row.get("variant", ""))
        newest[key] = max(newest.get(key, ""), row.get("built_at", ""))
    shown = []
    for row in rows:
        key = (row["name"], row.get("variant", ""))
        if "state" in row or key not in judged:  # damaged, or for other settings
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
