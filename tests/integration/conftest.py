"""What several integration tests stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.base.errors import MesocosmError
from appliance.base.settings import get_settings
from images.builder import Builder
from images.engine import connect

if TYPE_CHECKING:
    from images.recipe import Image


@pytest.fixture(scope="session")
def base() -> Image:
    """Return the appliance's own base image, built when it is not there."""
    try:
        with connect(5):
            pass
    except MesocosmError as exc:
        pytest.skip(exc.brief)
    return Builder(get_settings()).ensure("base", repair=True)
