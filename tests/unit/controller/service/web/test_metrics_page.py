from __future__ import annotations

import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

from controller.service.web.app import make_app_with_pages
from controller.service.web.drawing.chart import Series, draw_chart
from controller.service.web.metrics.prometheus import Prometheus
from controller.service.web.metrics.units import format_value
from foundation.errors import RequirementError
from monitoring.dashboards.catalog import DASHBOARDS
from tests.unit.controller.service.context import HOST
from tests.unit.controller.service.test_pages import sign_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.service.api.context import ApiContext


def test_lines_stay_inside_and_gaps_stay_gaps() -> None:
    points = ((0.0, 1.0), (10.0, math.nan), (20.0, 3.0), (30.0, 4.5), (40.0, math.inf))
    chart = draw_chart([Series("a", points), Series("b", ())], 0.0, 40.0, str)
    first, second = chart.lines
    assert first.path.count("M") == 2
    assert (first.last, second.last, second.path) == ("4.5", "-", "")
    assert [tick.label for tick in chart.rows] == ["0.0", "2.0", "4.0", "6.0"]
    numbers = [float(number) for number in first.path.replace("M", " ").replace("L", " ").split()]
    assert all(chart.left <= x <= chart.right for x in numbers[::2])
    assert all(0 <= y <= chart.bottom for y in numbers[1::2])


@pytest.mark.parametrize(
    ("values", "low", "high"), [([], 0, 1), ([-3.0, 5.0], -4, 6), ([0.0], 0, 1), ([1e-9], 0, 1e-9)]
)
def test_axes_hold_all_values(values: list[float], low: float, high: float) -> None:
    series = [Series("a", tuple((float(at), value) for at, value in enumerate(values)))]
    rows = [float(tick.label) for tick in draw_chart(series, 0.0, 9.0, str).rows]
    assert [rows[0], rows[-1]] == pytest.approx([low, high])


def test_values_have_units() -> None:
    shown = [
        format_value("seconds", 0.25),
        format_value("seconds", 1200.0),
        format_value("bytes", 3 * 1024**2),
        format_value("ratio", 0.031),
        format_value("usd", 1.5),
        format_value("count", 3.0),
        format_value("count", math.nan),
    ]
    assert shown == ["250 ms", "20 min", "3 MiB", "3.1 %", "1.50 USD", "3", "-"]


def an_alert(name: str, severity: str, summary: str, *, state: str = "firing") -> dict[str, object]:
    return {
        "labels": {"alertname": name, "severity": severity},
        "annotations": {"summary": summary, "cure": "Look."},
        "state": state,
        "activeAt": "2026-11-23T02:10:00.123456789Z",
        "value": "1e+00",
    }


ALERTS = [
    an_alert("DiskLow", "ticket", "5GiB are free."),
    an_alert("NotYet", "page", "It is pending.", state="pending"),
    an_alert("HostDown", "page", "The <b>hypervisor</b> does not answer."),
]


class Answers(BaseHTTPRequestHandler):
    """Replies as Prometheus does: one series for each query, none for quantiles."""

    asked: list[str]

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path == "/prometheus/api/v1/alerts":
            self._answer({"status": "success", "data": {"alerts": ALERTS}})
            return
        query = parse_qs(address.query)["query"][0]
        self.asked.append(query)
        labels = {"kind": "<b>desktop</b>"}
        row = {"metric": labels, "value": [100.0, "7"], "values": [[100.0, "7"], [130.0, "NaN"]]}
        reply = {"status": "success", "data": {"result": [] if "quantile" in query else [row]}}
        if "memory" in query:
            reply = {"status": "error", "error": "too many samples"}
        self._answer(reply)

    def _answer(self, reply: Mapping[str, object]) -> None:
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Log nothing."""


@pytest.fixture
def prometheus() -> Iterator[tuple[int, list[str]]]:
    asked: list[str] = []
    handler = type("Handler", (Answers,), {"asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port, asked
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_panels_are_drawn_from_prometheus_replies(
    context: ApiContext, prometheus: tuple[int, list[str]]
) -> None:
    port, asked = prometheus
    object.__setattr__(
        context, "settings", context.settings.model_copy(update={"controller_port": port})
    )
    app = make_app_with_pages(context, {HOST})
    browser = TestClient(app, base_url=f"http://{HOST}", headers={"Origin": f"http://{HOST}"})
    sign_in(browser, context)
    for board in DASHBOARDS:
        asked.clear()
        text = browser.get(f"/dashboards?name={board.name}&window=1d").text
        assert len(asked) >= len(board.panels)
        assert all("$__rate_interval" not in query for query in asked)
        assert "<b>desktop" not in text
        assert text.count("<section") == len(board.panels)
    text = browser.get("/dashboards?name=fleet").text
    assert "&lt;b&gt;desktop&lt;/b&gt;" in text
    assert "too many samples" in text
    assert "No data in this period" in text
    assert '<path class="line c0" d="M' in text
    assert browser.get("/dashboards?name=nothing").status_code == 404


def test_unreachable_prometheus_is_reported(context: ApiContext) -> None:
    app = make_app_with_pages(context, {HOST})
    browser = TestClient(app, base_url=f"http://{HOST}", headers={"Origin": f"http://{HOST}"})
    sign_in(browser, context)
    answer = browser.get("/dashboards")
    assert answer.status_code == 200
    assert "Prometheus does not respond" in answer.text
    assert "alerts are unknown" in browser.get("/").text


@pytest.mark.slow
def test_overview_shows_firing_alerts_with_pages_first(
    context: ApiContext, prometheus: tuple[int, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    object.__setattr__(
        context, "settings", context.settings.model_copy(update={"controller_port": prometheus[0]})
    )
    app = make_app_with_pages(context, {HOST})
    browser = TestClient(app, base_url=f"http://{HOST}", headers={"Origin": f"http://{HOST}"})
    sign_in(browser, context)
    text = browser.get("/").text
    assert text.index("HostDown") < text.index("DiskLow")
    assert "&lt;b&gt;hypervisor&lt;/b&gt; does not answer" in text
    assert "2026-11-23 02:10:00" in text
    assert "NotYet" not in text
    monkeypatch.setitem(globals(), "ALERTS", [])
    assert "No alerts are firing" in browser.get("/").text


@pytest.mark.parametrize(
    "reply", [b"[]", b"{}", b'{"status": "success", "data": {}}', b"<p>hello</p>", b"null"]
)
@pytest.mark.slow
def test_foreign_program_is_not_mistaken_for_prometheus(reply: bytes) -> None:
    class Stranger(Answers):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(reply)

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with pytest.raises(RequirementError, match="does not respond"):
            Prometheus(f"127.0.0.1:{server.server_port}").firing()
        server.shutdown()
        thread.join()
