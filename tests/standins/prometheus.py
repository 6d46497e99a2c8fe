"""A real Prometheus for tests, with the appliance's configuration and rules."""

from __future__ import annotations

import json
import socket
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import yaml

from foundation.clock import wait_until
from foundation.process import kill_group, start

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG = Path(__file__).resolve().parents[2] / "monitoring" / "prometheus"


class Prometheus:
    """A Prometheus process for tests."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.url}{path}", timeout=5) as reply:
                body = reply.read()
        except OSError:
            return None
        return json.loads(body) if body.startswith(b"{") else body

    def query(self, expression: str) -> list[dict[str, Any]]:
        reply = self.get(f"/api/v1/query?query={quote(expression)}")
        assert reply is not None, f"Prometheus refuses {expression}"
        assert reply["status"] == "success"
        return list(reply["data"]["result"])


@contextmanager
def running_prometheus(
    folder: Path, target: str, *, alertmanager: str = "", rules: Path = CONFIG / "rules.yml"
) -> Iterator[Prometheus]:
    """Run a Prometheus during a block.

    Args:
        folder: folder for its configuration and data.
        target: address that serves the controller's metrics.
        alertmanager: address of the Alertmanager that receives alerts; empty for none.
        rules: rules that it evaluates.
    """
    config = yaml.safe_load((CONFIG / "prometheus.yml").read_text())
    config["global"] |= {"scrape_interval": "500ms", "scrape_timeout": "400ms"}
    config["global"]["evaluation_interval"] = "500ms"
    config["rule_files"] = [str(rules)]
    jobs = {job["job_name"]: job for job in config["scrape_configs"]}
    jobs["controller"]["static_configs"] = [{"targets": [target]}]
    config["scrape_configs"] = [jobs["controller"]]
    (sender,) = config["alerting"]["alertmanagers"]
    assert sender == {"static_configs": jobs["alertmanager"]["static_configs"]}
    targets = [{"targets": [alertmanager] if alertmanager else []}]
    sender["static_configs"] = jobs["alertmanager"]["static_configs"] = targets
    config["scrape_configs"].append(jobs["alertmanager"])
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    port = free_port()
    process = start(
        [
            "prometheus",
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}",
            "--web.external-url=/prometheus/",
            "--log.level=error",
        ]
    )
    server = Prometheus(f"http://127.0.0.1:{port}/prometheus")
    try:
        assert wait_until(lambda: server.get("/-/ready"), timeout_s=30)
        yield server
    finally:
        kill_group(process)
        process.communicate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
