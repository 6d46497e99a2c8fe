"""What Inspect finds by the entry point ``inspect_ai``: the sandbox provider and the task."""

from __future__ import annotations

from mesocosm.inspect.sandbox import MesocosmSandbox as MesocosmSandbox
from mesocosm.inspect.suite import graph as graph
from mesocosm.inspect.suite import suite as suite
