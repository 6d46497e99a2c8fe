from __future__ import annotations

import importlib
from typing import get_args

import pytest

from provisioning.desktop.registry import DESKTOPS
from provisioning.machine_record import RECORDS, MachineRecord, parse_record


@pytest.mark.parametrize("backend", RECORDS)
def test_a_record_is_of_the_class_of_its_backend(backend: str) -> None:
    module, _, name = RECORDS[backend].partition(":")
    record_class = getattr(importlib.import_module(module), name)
    assert issubclass(record_class, MachineRecord)
    assert backend in get_args(record_class.model_fields["backend"].annotation)


def test_every_desktop_backend_has_a_class_of_records() -> None:
    assert {desktop.recorded_name for desktop in DESKTOPS.values()} <= RECORDS.keys()


def test_a_record_of_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ValueError, match="no backend is named 'abacus'"):
        parse_record(b'{"backend": "abacus"}')
