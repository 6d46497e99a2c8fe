"""A real Alertmanager for tests, with the configuration that `mesocosm up` writes."""

from __future__ import annotations

import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import yaml

from foundation.clock import wait_until
from foundation.process import find_tool, kill_group, start
from monitoring.alertmanager import render_config
from tests.standins.prometheus import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.alertmanager import Receivers

PROGRAM = "prometheus-alertmanager"
IS_THERE = bool(find_tool(PROGRAM))


def _shorten_intervals(config: dict[str, Any]) -> None:
    """Send messages immediately, and again after a second if something changed."""
    for route in (config["route"], *config["route"]["routes"]):
        route |= {"group_wait": "0s", "group_interval": "1s"}


@contextmanager
def running_alertmanager(folder: Path, receivers: Receivers) -> Iterator[str]:
    """Run an Alertmanager in a new folder during a block; yield its address."""
    config = yaml.safe_load(render_config(receivers, "test-host"))
    _shorten_intervals(config)
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    process = start(
        [
            PROGRAM,
            f"--config.file={folder}/alertmanager.yml",
            f"--storage.path={folder}/alertmanager",
            f"--web.listen-address={address}",
            "--web.external-url=http://127.0.0.1:9464/prometheus/alerts",
            "--web.route-prefix=/",
            "--cluster.listen-address=",
            "--log.level=error",
        ]
    )
    try:
        assert wait_until(lambda: _is_ready(address), timeout_s=30)
        yield address
    finally:
        kill_group(process)
        process.communicate()


def _is_ready(address: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{address}/-/ready", timeout=5):
            return True
    except OSError:
        return False
