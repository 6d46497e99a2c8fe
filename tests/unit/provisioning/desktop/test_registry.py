"""Desktop backends match the settings' names, and can be constructed."""

from __future__ import annotations

import importlib
from typing import get_args

import pytest

from foundation.settings import Settings
from images.catalog import NAMES, ON_REQUEST
from provisioning.desktop.registry import DESKTOPS, DesktopRecord


def test_settings_list_every_backend() -> None:
    assert get_args(Settings.model_fields["desktop"].annotation) == tuple(DESKTOPS)


def test_record_type_and_name_identify_the_backend() -> None:
    names = [desktop.recorded_name for desktop in DESKTOPS.values()]
    assert len(set(names)) == len(DESKTOPS)
    assert set(get_args(DesktopRecord)) == {desktop.record for desktop in DESKTOPS.values()}


@pytest.mark.libvirt
@pytest.mark.parametrize("name", DESKTOPS)
def test_backend_can_be_loaded_and_its_images_exist(name: str) -> None:
    module, _, constructor = DESKTOPS[name].backend.partition(":")
    made = getattr(importlib.import_module(module), constructor)
    assert {"make", "attach", "fits"} <= set(dir(made))
    assert set(DESKTOPS[name].images) <= {*NAMES, *ON_REQUEST}
