"""Access to the controller's metrics, and forwarding to Prometheus, over real sockets."""

from __future__ import annotations

import http.client
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from monitoring.collector import ApplianceCollector, make_registry
from monitoring.hosts import allowed_hosts
from monitoring.measures import MeasureReader
from monitoring.prometheus_proxy import PREFIX, PrometheusProxy
from monitoring.server import MetricsApp, MetricsServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATHS = ("/metrics", "/healthz", f"{PREFIX}/graph")


@contextmanager
def served(folder: Path, upstream: str = "", hosts: tuple[str, ...] = ()) -> Iterator[int]:
    app = MetricsApp(
        make_registry(ApplianceCollector(MeasureReader(folder), dict)),
        prometheus=PrometheusProxy(upstream) if upstream else None,
    )
    with MetricsServer(app, hosts=hosts) as server:
        yield server.port


def ask(port: int, path: str, hosts: tuple[str, ...], method: str = "GET") -> tuple[int, bytes]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        link.putrequest(method, path, skip_host=True)
        for host in hosts:
            link.putheader("Host", host)
        link.endheaders()
        reply = link.getresponse()
        return reply.status, reply.read()
    finally:
        link.close()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.slow
def test_foreign_host_name_reads_nothing(tmp_path: Path, path: str) -> None:
    with served(tmp_path, "http://127.0.0.1:1") as port:
        for hosts in (
            ("evil.test",),
            (f"evil.test:{port}",),
            (f"127.0.0.1.evil.test:{port}",),
            (f"localhost:{port + 1}",),
            ("localhost",),
            (f"localhost:{port}", "evil.test"),
            (f"evil.test,localhost:{port}",),
            (),
        ):
            status, body = ask(port, path, hosts)
            assert (status, b"mesocosm" in body.lower()) == (421, False), hosts


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LocalHost", "[::1]"])
@pytest.mark.slow
def test_loopback_names_read_everything(tmp_path: Path, name: str) -> None:
    with served(tmp_path) as port:
        assert [ask(port, path, (f"{name}:{port}",))[0] for path in PATHS[:-1]] == [200] * 2


@pytest.mark.slow
def test_allowed_name_reads_everything(tmp_path: Path) -> None:
    with served(tmp_path, hosts=("Controller:9464",)) as port:
        assert ask(port, "/metrics", ("controller:9464",))[0] == 200
        assert ask(port, "/metrics", ("controller",))[0] == 421


def test_listening_address_is_allowed_and_a_wildcard_is_not() -> None:
    assert "10.0.0.5:99" in allowed_hosts("10.0.0.5", [99])
    assert "[fd00::1]:99" in allowed_hosts("fd00::1", [99])
    loopback = {"127.0.0.1", "localhost", "[::1]"}
    assert allowed_hosts("", [80]) == loopback
    assert allowed_hosts("::", [1, 2]) == {f"{name}:{n}" for name in loopback for n in (1, 2)}


@contextmanager
def upstream(status: int = 200, **headers: str) -> Iterator[str]:
    """A fake Prometheus that echoes the request."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"{self.command} {self.path} {self.headers['Host']} {self.headers['Cookie']}"
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_query_is_forwarded_unchanged(tmp_path: Path) -> None:
    path = f"{PREFIX}/api/v1/query?query=up%7Bjob%3D%22a%20b%22%7D&x=%2F"
    with upstream() as address, served(tmp_path, address) as port:
        status, body = ask(port, path, (f"localhost:{port}",))
        assert status == 200
        assert body.decode() == f"GET {path} {address.removeprefix('http://')} None"
        encoded = f"{PREFIX}/api/v1/label/a%20b%C3%BC/values"
        assert encoded in ask(port, encoded, (f"localhost:{port}",))[1].decode()


@pytest.mark.slow
def test_replies_keep_type_and_location_but_no_cookies(tmp_path: Path) -> None:
    headers = {"Content_Type": "text/x", "Location": f"{PREFIX}/graph", "Set_Cookie": "a=b"}
    with upstream(302, **headers) as address, served(tmp_path, address) as port:
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        link.request("GET", PREFIX)
        reply = link.getresponse()
        reply.read()
        link.close()
    assert (reply.status, reply.headers["Location"]) == (302, f"{PREFIX}/graph")
    assert reply.headers["Content-Type"] == "text/x"
    assert reply.headers["Set-Cookie"] is None
    assert "frame-ancestors 'none'" in reply.headers["Content-Security-Policy"]


@pytest.mark.slow
def test_writing_methods_are_not_forwarded(tmp_path: Path) -> None:
    with upstream() as address, served(tmp_path, address) as port:
        for method in ("POST", "PUT", "DELETE"):
            assert ask(port, f"{PREFIX}/-/quit", (f"localhost:{port}",), method)[0] == 405


@pytest.mark.slow
def test_unreachable_prometheus_is_reported(tmp_path: Path) -> None:
    with served(tmp_path, "http://127.0.0.1:1") as port:
        status, body = ask(port, f"{PREFIX}/graph", (f"localhost:{port}",))
    assert status == 502
    assert b"Prometheus does not answer" in body


@pytest.mark.slow
def test_other_paths_are_not_found(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        for path in ("/", f"{PREFIX}/graph", "/metrics.html"):
            assert ask(port, path, (f"localhost:{port}",))[0] == 404
