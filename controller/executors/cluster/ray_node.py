"""How one Ray node is started: program, arguments and environment."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from controller.executors.cluster.ports import Ports
from controller.executors.cluster.records import HOST_PREFIX, MACHINES_MIB

if TYPE_CHECKING:
    from pathlib import Path

    from controller.executors.cluster.records import HeadRecord, HostRecord

_OBJECT_STORE_BYTES = 100 << 20
"""Jobs and reports are small; Ray's default is 30 % of the memory, which machines need."""
_PROGRAM = (sys.executable, "-P", "-m", "ray.scripts.scripts", "start")


def head_command(head: HeadRecord, session_dir: Path) -> list[str]:
    """Return the command of the head, which has no processors: no trial runs there."""
    return [
        *_PROGRAM,
        "--head",
        f"--node-ip-address={head.address}",
        f"--port={head.first_port}",
        f"--temp-dir={session_dir}",
        "--include-dashboard=false",
        "--num-cpus=0",
        *_common(Ports(head.first_port)),
    ]


def host_command(host: HostRecord) -> list[str]:
    """Return the command of a host.

    A trial takes one of its processors, so their number is that of its simultaneous trials.
    """
    resources = {MACHINES_MIB: host.machines_mib, f"{HOST_PREFIX}{host.name}": 1}
    return [
        *_PROGRAM,
        f"--address={host.head}",
        f"--num-cpus={host.trials}",
        f"--resources={json.dumps(resources)}",
        *_common(Ports(host.first_port)),
    ]


def _common(ports: Ports) -> list[str]:
    first, last = ports.workers
    return [
        "--num-gpus=0",
        "--include-log-monitor=false",
        f"--object-store-memory={_OBJECT_STORE_BYTES}",
        f"--node-manager-port={ports.node_manager}",
        f"--object-manager-port={ports.object_manager}",
        f"--dashboard-agent-grpc-port={ports.agent_grpc}",
        f"--dashboard-agent-listen-port={ports.agent_http}",
        f"--runtime-env-agent-port={ports.environment_agent}",
        f"--metrics-export-port={ports.metrics}",
        f"--min-worker-port={first}",
        f"--max-worker-port={last}",
        "--disable-usage-stats",
        "--block",
    ]


def node_environment(token_path: Path | str) -> dict[str, str]:
    """Return the variables of all processes of a cluster: nodes, and programs that connect to it."""
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token_path),
        "RAY_USAGE_STATS_ENABLED": "0",
        # The memory of guests must not get an innocent worker killed: fleets watch it themselves.
        "RAY_memory_monitor_refresh_ms": "0",
        "RAY_prestart_worker_first_driver": "0",
        "RAY_enable_worker_prestart": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }
