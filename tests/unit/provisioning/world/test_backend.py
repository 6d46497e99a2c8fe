"""Worlds in the table of resources, and their specifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.errors import SpecError
from foundation.settings import Settings
from images.catalog import NAMES, make_recipe
from provisioning.machine_record import parse_record
from provisioning.registry import registry
from provisioning.resource import WORLD, ResourceSpec
from provisioning.world.backend import WorldBackend
from provisioning.world.record import WorldRecord

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.protocols import Json


@pytest.mark.parametrize("seed", [-1, 2**63, "7", 1.5, True, None])
def test_odd_seeds_are_refused(tmp_path: Path, seed: Json) -> None:
    spec = ResourceSpec(WORLD, parameters={"seed": seed})
    with pytest.raises(SpecError, match="is not the seed of a world"):
        WorldBackend(Settings(state_dir=tmp_path), spec)


def test_worlds_are_made_when_a_lease_asks_for_one(tmp_path: Path) -> None:
    entry = registry("").chosen(WORLD, Settings(state_dir=tmp_path))
    assert registry("").kind(WORLD).is_on_request
    assert entry.parameters == ("seed",)
    assert WORLD not in NAMES
    assert make_recipe(WORLD, Settings(state_dir=tmp_path)).needs == ("base",)


def test_a_record_is_read_as_it_was_written() -> None:
    record = WorldRecord(
        machine_id="world-000001",
        kind=WORLD,
        image="world:debian-12",
        image_digest="0" * 64,
        accelerator="none",
        user="",
        home="",
        parameters={"seed": 7},
        seed=7,
    )
    assert parse_record(record.model_dump_json().encode()) == record
