from __future__ import annotations

import pytest

from provisioning.machine_record import parse_record


def test_a_record_of_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ValueError, match="no backend called 'abacus'"):
        parse_record(b'{"backend": "abacus"}')
