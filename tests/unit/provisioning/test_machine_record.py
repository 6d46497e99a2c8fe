from __future__ import annotations

import pytest

from provisioning.machine_record import parse_record
from tests.standins.records import desktop_record


def test_a_record_of_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ValueError, match="no backend called 'abacus'"):
        parse_record(b'{"backend": "abacus"}')


def test_parameters_are_written_only_if_there_are_any() -> None:
    record = desktop_record("desktop-1")
    assert "parameters" not in record.model_dump_json()
    seeded = record.model_copy(update={"parameters": {"seed": 1}})
    assert parse_record(seeded.model_dump_json().encode()) == seeded
