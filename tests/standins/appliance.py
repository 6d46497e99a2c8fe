"""Mark of tests that need a running appliance."""

from __future__ import annotations

import os

import pytest

IS_UP = "MESOCOSM_TEST_APPLIANCE" in os.environ
NEEDS_APPLIANCE = pytest.mark.skipif(
    not IS_UP, reason="the appliance is not up; `make test` starts it"
)
