from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foundation.settings import Settings
from provisioning.desktop.qemu.migration import StreamChecksum
from provisioning.desktop.qemu.template import (
    RECORD,
    TemplateRecord,
    remove_templates,
    templates_dir,
)

if TYPE_CHECKING:
    from pathlib import Path

STREAM = StreamChecksum(0, "0" * 64)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A state folder with an intact template of each of two images, and a damaged one."""
    made = Settings(state_dir=tmp_path)
    for name, image in (("a", "desktop:ubuntu-22.04"), ("b", "desktop:ubuntu-24.04")):
        record = TemplateRecord(
            stamp=name * 16, image=image, backing="", files={}, stream=STREAM, seconds=1.0
        )
        folder = templates_dir(made) / (name * 16)
        folder.mkdir(parents=True)
        (folder / RECORD).write_text(record.model_dump_json())
    (templates_dir(made) / ("c" * 16)).mkdir()
    return made


def left(settings: Settings) -> set[str]:
    return {path.name[0] for path in templates_dir(settings).iterdir()}


def test_new_template_replaces_those_of_its_own_distribution(
    settings: Settings,
) -> None:
    assert remove_templates(settings, image="desktop:ubuntu-22.04") == ["a" * 16, "c" * 16]
    assert left(settings) == {"b"}


def test_all_templates_are_removed_without_an_image_name(settings: Settings) -> None:
    remove_templates(settings)
    assert left(settings) == set()
