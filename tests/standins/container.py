"""The image of desktop containers for tests; built if the appliance is up."""

from __future__ import annotations

import pytest

from foundation.errors import ImageError, RequirementError
from foundation.settings import Settings, get_settings
from images.builder import Builder
from tests.standins.appliance import IS_UP


def desktop_container_settings() -> Settings:
    """Return the settings of this host's appliance; skip the test if the image does not exist."""
    settings = get_settings()
    builder = Builder(settings)
    if IS_UP:
        builder.ensure("desktop-container", repair=True)
        return settings
    try:
        builder.find("desktop-container")
    except (ImageError, RequirementError) as exc:
        pytest.skip(str(exc))
    return settings
