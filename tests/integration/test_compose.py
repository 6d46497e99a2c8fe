"""Tests of the appliance's containers on a real Docker engine."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from appliance.services.compose import Compose
from foundation.settings import Settings
from images.engine import connect

if TYPE_CHECKING:
    from pathlib import Path

    from images.recipe import Image

pytestmark = [pytest.mark.docker, pytest.mark.slow]


def test_containers_that_end_during_removal_are_no_error(base: Image, tmp_path: Path) -> None:
    """The engine removes these containers itself as soon as they stop."""
    compose = Compose(Settings(state_dir=tmp_path))
    names = {f"going-{uuid.uuid4()}" for _ in range(3)}
    with connect() as client:
        for name in names:
            client.containers.run(
                base.tag or "",
                ["sleep", "600"],
                name=name,
                labels={"com.docker.compose.project": compose.project},
                init=True,
                detach=True,
                auto_remove=True,
            )
        assert set(compose.remove(volumes=True)) == names
        left = client.containers.list(all=True, ignore_removed=True)
        assert names.isdisjoint(str(container.name) for container in left)
