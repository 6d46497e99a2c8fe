"""Tests that alerts of the real rules reach a webhook and a mail server, and are resolved."""

from __future__ import annotations

import email
import email.policy
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
import yaml

from foundation.clock import wait_until
from foundation.process import find_tool, run
from monitoring.alertmanager import MailServer, Receivers, render_config
from tests.standins.alertmanager import IS_THERE, running_alertmanager
from tests.standins.prometheus import CONFIG, running_prometheus
from tests.unit.controller.service.receivers import mailbox, web

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.standins.prometheus import Prometheus
    from tests.unit.controller.service.receivers import Mailbox, Web

pytestmark = [
    pytest.mark.prometheus,
    pytest.mark.skipif(not find_tool("prometheus"), reason="the prometheus package is missing"),
    pytest.mark.skipif(not IS_THERE, reason="the prometheus-alertmanager package is missing"),
]

SERVER = MailServer("mail.example.org", 587, "bench@example.org", "bench", 'p{{"\n: #', True)
ALL = Receivers("https://hooks.example.org/x?token=secret", "a@example.org, b@example.org", SERVER)


@pytest.mark.parametrize(
    "receivers",
    [Receivers(), Receivers(ALL.webhook), Receivers("", ALL.mail_to, SERVER), ALL],
    ids=["none", "webhook", "mail", "both"],
)
def test_amtool_finds_no_error(receivers: Receivers, tmp_path: Path) -> None:
    config = tmp_path / "alertmanager.yml"
    config.write_text(render_config(receivers, "a-host"))
    run(["amtool", "check-config", str(config)]).require()
    config.write_text(config.read_text().replace("repeat_interval: 24h", "repeat_interval: soon"))
    assert run(["amtool", "check-config", str(config)]).exit_code == 1


@pytest.mark.parametrize(
    ("labels", "pace"),
    [
        (("alertname=HostDown", "severity=page"), "10s"),
        (("alertname=DiskLow", "severity=ticket"), "1m"),
    ],
)
def test_pages_are_sent_before_tickets(labels: tuple[str, ...], pace: str, tmp_path: Path) -> None:
    config = tmp_path / "alertmanager.yml"
    config.write_text(render_config(ALL, "a-host"))
    routed = run(["amtool", "config", "routes", "test", f"--config.file={config}", *labels])
    assert routed.require().text.strip() == "bench"
    routes = yaml.safe_load(config.read_text())["route"]
    chosen = routes["routes"][0] if "severity=page" in labels else routes
    assert chosen["group_wait"] == pace


class Gauges:
    """Server of metrics whose values a test changes."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}
        self.address = ""

    def serve(self) -> ThreadingHTTPServer:
        gauges = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                lines = [f"{name} {value}\n" for name, value in gauges.values.items()]
                body = "".join(lines).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{server.server_port}"
        return server


class Bench:
    """Prometheus with the appliance's rules, Alertmanager and its receivers."""

    def __init__(self, hook: Web, box: Mailbox, gauges: Gauges, prometheus: Prometheus) -> None:
        self.hook = hook
        self.box = box
        self.gauges = gauges
        self.prometheus = prometheus

    def has_notified(self, alert: str, status: str) -> bool:
        """Return whether both receivers were notified."""
        posted = any(
            (posted_alert["labels"]["alertname"], posted_alert["status"]) == (alert, status)
            for body in list(self.hook.bodies)
            for posted_alert in body["alerts"]
        )
        return posted and any(f"[{status}] {alert}:" in text for _, text in list(self.box.mails))


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Run all servers; rules fire immediately instead of after a delay."""
    rules = yaml.safe_load((CONFIG / "rules.yml").read_text())
    for rule in rules["groups"][0]["rules"]:
        rule.pop("for", None)
    folder = tmp_path_factory.mktemp("bench")
    (folder / "rules.yml").write_text(yaml.safe_dump(rules))
    gauges = Gauges()
    gauges.values = {
        'mesocosm_host_up{host="hypervisor"}': 1,
        "mesocosm_disk_free_bytes": 50 << 30,
        'mesocosm_machines{kind="desktop",state="unreachable"}': 0,
    }
    with ExitStack() as stack:
        server = stack.enter_context(gauges.serve())
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        hook, box = stack.enter_context(web(200)), stack.enter_context(mailbox())
        mail = MailServer("127.0.0.1", box.port, "bench@example.org")
        receivers = Receivers(hook.url, "a@example.org, b@example.org", mail)
        place = stack.enter_context(running_alertmanager(folder, receivers))
        prometheus = stack.enter_context(
            running_prometheus(
                folder, gauges.address, alertmanager=place, rules=folder / "rules.yml"
            )
        )
        yield Bench(hook, box, gauges, prometheus)


def test_alert_reaches_webhook_and_mail_and_is_resolved(bench: Bench) -> None:
    assert wait_until(lambda: bench.prometheus.query('up{job="alertmanager"} == 1'), timeout_s=30)
    bench.gauges.values["mesocosm_disk_free_bytes"] = 5 << 30
    assert wait_until(lambda: bench.has_notified("DiskLow", "firing"), timeout_s=60)
    assert not bench.has_notified("DiskLow", "resolved")
    (posted,) = [
        body for body in bench.hook.bodies if body["groupLabels"]["alertname"] == "DiskLow"
    ]
    assert posted["receiver"] == "bench"
    assert posted["externalURL"] == "http://127.0.0.1:9464/prometheus/alerts"
    assert posted["alerts"][0]["annotations"]["summary"].startswith("5GiB are free")

    to, text = next(mail for mail in bench.box.mails if "[firing] DiskLow" in mail[1])
    mail = email.message_from_string(text, policy=email.policy.default)
    assert to == ["a@example.org", "b@example.org"]
    assert (mail["From"], mail["Subject"]) == (
        "bench@example.org",
        "[firing] DiskLow: Mesocosm on test-host",
    )
    body = mail.get_body(("plain",))
    assert body is not None
    assert mail.get_body(("html",)) is None
    lines = body.get_content().splitlines()
    assert lines[0].startswith("firing: DiskLow (ticket), since 2")
    assert lines[1] == "5GiB are free for results, images and machines."
    assert lines[2] == "`mesocosm results prune` and `mesocosm image prune` free space."
    assert "All alerts: http://127.0.0.1:9464/prometheus/alerts" in lines

    bench.gauges.values["mesocosm_disk_free_bytes"] = 50 << 30
    assert wait_until(lambda: bench.has_notified("DiskLow", "resolved"), timeout_s=60)


def test_alert_explained_by_another_is_shown_and_not_sent(bench: Bench) -> None:
    bench.gauges.values['mesocosm_host_up{host="hypervisor"}'] = 0
    assert wait_until(lambda: bench.has_notified("HostDown", "firing"), timeout_s=60)
    bench.gauges.values['mesocosm_machines{kind="desktop",state="unreachable"}'] = 2
    shown = 'ALERTS{alertname="MachinesLost",alertstate="firing"}'
    assert wait_until(lambda: bench.prometheus.query(shown), timeout_s=60)
    # Alerts that fire later are sent.
    bench.gauges.values['mesocosm_image_stale{image="desktop"}'] = 1
    assert wait_until(lambda: bench.has_notified("ImagesStale", "firing"), timeout_s=60)
    assert not bench.has_notified("MachinesLost", "firing")


def test_failing_receiver_raises_its_own_alert(bench: Bench) -> None:
    bench.hook.statuses[:] = [400]
    bench.gauges.values['mesocosm_host_up{host="docker"}'] = 0
    failed = 'ALERTS{alertname="AlertsNotSent",integration="webhook",alertstate="firing"}'
    assert wait_until(lambda: bench.prometheus.query(failed), timeout_s=90)
    assert wait_until(
        lambda: any("[firing] AlertsNotSent:" in text for _, text in bench.box.mails), timeout_s=60
    )
