"""All of Inspect's own checks of sandboxes, against the desktop of a running service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inspect_ai.util._sandbox.self_check import *

from mesocosm.inspect.config import MesocosmConfig
from mesocosm.inspect.sandbox import MesocosmSandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from inspect_ai.util import SandboxEnvironment

GAPS = {"test_exec_as_user": "adduser of Ubuntu 22.04 has no option --comment"}


@pytest.fixture(scope="module")
async def machines() -> AsyncIterator[dict[str, SandboxEnvironment]]:
    config = MesocosmConfig(task="bare/desktop", commands="root")
    opened = await MesocosmSandbox.sample_init("check", config, {})
    yield opened
    await MesocosmSandbox.sample_cleanup("check", config, opened, interrupted=False)


@pytest.fixture
async def sandbox_env(
    request: pytest.FixtureRequest, machines: dict[str, SandboxEnvironment]
) -> SandboxEnvironment:
    sandbox = machines["desktop"]
    reason = GAPS.get(request.node.originalname)
    if reason and "--comment" not in (await sandbox.exec(["adduser", "--help"])).stdout:
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    return sandbox
