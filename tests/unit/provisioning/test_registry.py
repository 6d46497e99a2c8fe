"""Every entry of the table can be loaded, and names things that exist."""

from __future__ import annotations

from typing import get_args

import pytest

from foundation.errors import UnknownNameError
from foundation.settings import Settings
from images.catalog import NAMES, ON_REQUEST
from provisioning.phone.profile import PROFILES
from provisioning.registry import BACKENDS, KINDS, BackendEntry, load, registry
from provisioning.resource import DESKTOP, PHONE


def test_defaults_of_the_settings_are_in_the_table() -> None:
    names = [registry().chosen(kind.name, Settings()).name for kind in KINDS]
    assert names == ["vm", "reference", "world"]


def test_names_identify_a_backend() -> None:
    assert len({entry.recorded_name for entry in BACKENDS}) == len(BACKENDS)
    assert len({(entry.kind, entry.name) for entry in BACKENDS}) == len(BACKENDS)
    assert {entry.kind for entry in BACKENDS} == {kind.name for kind in KINDS}


@pytest.mark.parametrize("entry", BACKENDS, ids=lambda entry: entry.name)
def test_records_are_of_the_class_of_their_backend(entry: BackendEntry) -> None:
    assert entry.recorded_name in get_args(load(entry.record).model_fields["backend"].annotation)
    assert registry().recorded(entry.recorded_name) is entry


def test_phones_have_the_images_of_their_profiles() -> None:
    entries = registry().backends_of(PHONE)
    assert {name: entry.recipe for name, entry in entries.items()} == {
        name: profile.image for name, profile in PROFILES.items()
    }


def test_a_backend_of_another_kind_cannot_be_chosen() -> None:
    with pytest.raises(UnknownNameError, match="no desktop backend called 'reference'"):
        registry().chosen(DESKTOP, Settings(desktop="reference"))


@pytest.mark.libvirt
@pytest.mark.parametrize("entry", BACKENDS, ids=lambda entry: entry.name)
def test_backend_can_be_loaded_and_its_images_exist(entry: BackendEntry) -> None:
    assert callable(load(entry.backend))
    assert set(entry.images) <= {*NAMES, *ON_REQUEST}
