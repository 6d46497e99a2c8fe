"""A world with real servers: mail, calendars, contacts and files of a persona, reset and verified."""

from __future__ import annotations

import base64
import http.client
import imaplib
import json
import smtplib
import socket
import ssl
from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode

import pytest

import mesocosm as authors
from appliance.cli.main import main
from controller.episode.side_effects import StateWatch
from evaluators.decorators import evaluator
from evaluators.graph.outcome import Call
from evaluators.runners import session_runner
from evaluators.schema import describe
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import (
    EngineError,
    LinkError,
    MachineError,
    MesocosmError,
    ResetMismatchError,
)
from foundation.process import run
from foundation.settings import REPOSITORY, get_settings
from images.engine import connect
from provisioning.container_names import container_name
from provisioning.fleet.local import LocalFleet
from provisioning.fleet.reaching import find_services
from provisioning.protocols import READY
from provisioning.resource import DESKTOP, PHONE, WORLD, ResourceSpec
from provisioning.world.authority import open_authority
from provisioning.world.control import WorldControl
from provisioning.world.persona.model.calendar import Calendar
from provisioning.world.persona.model.mail import Folder
from provisioning.world.persona.persona import Persona, persona
from provisioning.world.persona.words.sites import CLOUD, SHOP, WEBMAIL, WIKI
from provisioning.world.state.collections import CONTACTS
from provisioning.world.state.shop import order_path
from tests.integration.test_reach import shows
from tests.standins.container import desktop_container_settings
from tests.standins.worlds import world_fleet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluators.session.view import CrossView
    from provisioning.lease import Lease
    from provisioning.phone.reference.machine import ReferencePhone
    from provisioning.world.resource import World

pytestmark = pytest.mark.docker

LISTENS = "0A"
"""State of sockets in ``/proc/net/tcp``."""
SPEC = ResourceSpec(WORLD, parameters={"seed": 7})


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalFleet]:
    try:
        with connect(5):
            pass
    except MesocosmError as exc:
        pytest.skip(exc.brief)
    with world_fleet(tmp_path_factory.mktemp("state")) as made:
        yield made


@pytest.fixture(scope="module")
def lease(fleet: LocalFleet) -> Iterator[Lease]:
    with fleet.acquire({"world": SPEC}) as held:
        yield held


@pytest.fixture
def world(lease: Lease) -> World:
    """Return the world as it was filled."""
    return cast("World", lease.reset().resources["world"])


class Client:
    """The persona's programs, as a machine connects them; certificates are checked."""

    def __init__(self, world: World, someone: Persona | None = None) -> None:
        self.world = world
        self.person = (someone or world.persona).person
        self.trust = ssl.create_default_context(cadata=open_authority(world._settings).certificate)

    def imap(self) -> imaplib.IMAP4:
        host, port = self.world.endpoints[143]
        server = imaplib.IMAP4(host, port, timeout=20)
        server.host = WEBMAIL  # the name in the certificate
        server.starttls(self.trust)
        try:
            server.login(self.person.email, self.person.password)
        except imaplib.IMAP4.error:
            server.shutdown()
            raise
        return server

    def count(self, folder: Folder) -> int:
        with self.imap() as server:
            _, (number,) = server.select(folder, readonly=True)
            return int(number or 0)

    def has_mail(self, subject: str) -> bool:
        with self.imap() as server:
            server.select(Folder.INBOX, readonly=True)
            return server.search(None, f'SUBJECT "{subject}"')[1] != [b""]

    def send(self, to: str, subject: str) -> None:
        host, port = self.world.endpoints[587]
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self.person.email, to, subject
        message.set_content("See you there.")
        with smtplib.SMTP(host, port, timeout=20) as server:
            server._host = WEBMAIL  # type: ignore[attr-defined] # the name in the certificate
            server.starttls(context=self.trust)
            server.login(self.person.email, self.person.password)
            server.send_message(message)

    def web(
        self, method: str, path: str, body: str = "", *, depth: str = "1", is_signed_in: bool = True
    ) -> tuple[int, str]:
        host, port = self.world.endpoints[80]
        login = base64.b64encode(f"{self.person.email}:{self.person.password}".encode()).decode()
        headers = {"Host": CLOUD, "Depth": depth}
        if is_signed_in:
            headers["Authorization"] = f"Basic {login}"
        connection = http.client.HTTPConnection(host, port, timeout=20)
        connection.request(method, path, body=body.encode(), headers=headers)
        reply = connection.getresponse()
        text = reply.read().decode(errors="replace")
        connection.close()
        return reply.status, text

    def collection(self, name: str) -> str:
        return f"/dav/{self.person.email}/{name}/"


def test_the_servers_have_what_the_persona_has(world: World) -> None:
    client, someone = Client(world), world.persona
    for folder in Folder:
        assert client.count(folder) == len(someone.mails.in_folder(folder))
    mail = someone.mails.in_folder(Folder.INBOX).unread().last()
    with client.imap() as server:
        server.select(Folder.INBOX, readonly=True)
        _, (found,) = server.search(None, f'HEADER Message-ID "{mail.id}"')
        _, data = server.fetch(found.decode(), "(FLAGS BODY.PEEK[])")
    text = b" ".join(part for row in data if isinstance(row, tuple) for part in row).decode()
    assert mail.subject in text
    assert "\\Seen" not in text
    for calendar in Calendar:
        events = someone.events.in_calendar(calendar)
        status, text = client.web("GET", client.collection(calendar))
        assert (status, text.count("BEGIN:VEVENT")) == (200, len(events))
        assert all(event.id in text for event in events)
    assert client.web("GET", client.collection(CONTACTS))[1].count("FN:") == len(someone.contacts)
    file = someone.files.below("Documents/Bank").last()
    assert client.web("GET", f"/files/{file.path}") == (200, file.text)


def test_mail_is_delivered_inside_and_kept_for_the_appliance_outside(world: World) -> None:
    client = Client(world)
    friend = world.persona.contacts[0]
    client.send(f"{world.persona.person.email}, {friend.email}", "Picnic")
    assert wait_until(lambda: client.has_mail("Picnic"), timeout_s=20, every_s=0.1)
    outside = [path for path in world.control.digest() if path.startswith("outside/new/")]
    assert len(outside) == 1
    host, port = world.endpoints[25]
    with smtplib.SMTP(host, port, timeout=20) as server:
        server.sendmail("shop@x.example", [client.person.email], "Subject: Parcel\n\nIt is here.")
        with pytest.raises(smtplib.SMTPRecipientsRefused):
            server.sendmail("shop@x.example", [friend.email], "Subject: Parcel\n\nNot for me.")
    assert wait_until(lambda: client.has_mail("Parcel"), timeout_s=20, every_s=0.1)


class Shopper:
    """A browser at the shop, with its cookies."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.cookie = ""

    def ask(self, method: str, path: str, site: str = SHOP, **form: str) -> tuple[str, str]:
        """Return the page, or where it leads to, and the text."""
        host, port = self.world.endpoints[443]
        trust = ssl.create_default_context(cadata=open_authority(self.world._settings).certificate)
        raw = socket.create_connection((host, port), timeout=20)
        connection = http.client.HTTPConnection(site, timeout=20)
        connection.sock = trust.wrap_socket(raw, server_hostname=site)
        headers = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request(method, path, body=urlencode(form), headers=headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        self.cookie = (reply.getheader("Set-Cookie") or self.cookie).partition(";")[0]
        connection.close()
        return reply.getheader("Location") or str(reply.status), text


def test_an_order_in_the_shop_arrives_as_mail(world: World) -> None:
    someone, shopper = world.persona, Shopper(world)
    person, product = someone.person, someone.products.in_stock()[0]
    assert product.name in shopper.ask("GET", f"/product/{product.number}")[1]
    assert shopper.ask("POST", "/cart/add", number=product.number, quantity="2")[0] == "/cart"
    assert shopper.ask("POST", "/checkout")[0] == "/sign-in?after=/checkout"
    form = {"email": person.email, "password": person.password, "after": "/checkout"}
    assert shopper.ask("POST", "/sign-in", **form)[0] == "/checkout"
    assert str(person.home) in shopper.ask("GET", "/checkout")[1]
    number = shopper.ask("POST", "/checkout")[0].rpartition("/")[2]
    assert order_path(number) in world.control.digest()
    client = Client(world)
    assert wait_until(lambda: client.has_mail(f"Your order {number}"), timeout_s=20, every_s=0.1)
    assert number in shopper.ask("GET", "/orders")[1]
    assert someone.orders.last().number in shopper.ask("GET", "/orders")[1]


def test_the_encyclopaedia_has_what_the_person_looked_up(world: World) -> None:
    shopper = Shopper(world)
    pages = {visit.url for visit in world.persona.visits if f"//{WIKI}/" in visit.url}
    assert len(pages) >= 20
    for url in pages:
        assert shopper.ask("GET", url.partition(WIKI)[2], WIKI)[0] == "200"
    assert "Oslo" in shopper.ask("GET", "/Norway", WIKI)[1]


@pytest.mark.phone
@pytest.mark.adb
def test_a_phone_reaches_its_world_by_name_and_nothing_else(fleet: LocalFleet) -> None:
    roles = {"phone": ResourceSpec(PHONE), "world": SPEC}
    with fleet.acquire(roles) as lease:
        phone = cast("ReferencePhone", lease.environment.machines["phone"])
        world = cast("World", lease.environment.resources["world"])
        shop = next(
            each.name for each in world.persona.records.organisations if each.site == "shop"
        )
        assert shows(phone, f"http://{SHOP}/", shop)
        assert shows(phone, f"http://{WIKI}/Norway", "Kingdom of Norway")
        assert phone.shell("nc -w 2 127.0.0.1 8090 < /dev/null").exit_code != 0


@evaluator(on="session")
def has_received(session: CrossView, seed: int, subject: str) -> bool:
    """Return whether the person of the world has a mail with a subject in the inbox.

    Args:
        session: the session.
        seed: seed of the world.
        subject: part of the subject.
    """
    person = authors.persona(seed).person
    with imaplib.IMAP4(*session.endpoint("world", 143), timeout=10) as server:
        server.login(person.email, person.password)
        server.select("INBOX", readonly=True)
        return server.search(None, f'SUBJECT "{subject}"')[1] != [b""]


def test_an_evaluator_asks_the_mail_server(lease: Lease, world: World) -> None:
    """Judge with an evaluator of the session, as in a trial."""
    order = world.persona.orders.last()
    tools = {"has_received": describe(has_received)}
    services = find_services(lease.environment.resources)
    runner = session_runner(NoAnswer(), tools, {}, services=services)

    def outcome(subject: str) -> bool | None:
        call = Call("n", "has_received", {"seed": 7, "subject": subject})
        return runner.evaluate([call], timeout_s=30)[0].met

    assert outcome(f"Your order {order.number}") is True
    assert outcome("Prize money") is False
    Client(world).send(world.persona.person.email, "Prize money")
    assert wait_until(lambda: outcome("Prize money"), timeout_s=20, every_s=0.2)


ON_DESKTOP = """
import imaplib, json, smtplib, socket, ssl, sys, urllib.request
authority, email, password, other, of_host = sys.argv[1:]
trust = ssl.create_default_context(cadata=authority)
assert b"Market" in urllib.request.urlopen("https://shop.example/", context=trust, timeout=20).read()
assert urllib.request.urlopen("http://wiki.example/Norway", timeout=20).status == 200
with smtplib.SMTP("mail.example", 587, timeout=20) as server:
    server.starttls(context=trust)
    server.login(email, password)
    server.sendmail(email, [email], "Subject: From the desktop\\n\\nHello")
with imaplib.IMAP4_SSL("mail.example", ssl_context=trust, timeout=20) as server:
    server.login(email, password)
    assert server.select("INBOX")[0] == "OK"
places = [(name, port) for name in ("world", "shop.example") for port in (8090, 5232, 8070, 22)]
places += [(other, port) for port in (1143, 1993, 8080, 8443, 8090)]
places += [tuple(place) for place in json.loads(of_host)]
for place in places:
    try:
        socket.create_connection(place, 2)
    except OSError:
        pass
    else:
        print(place)
"""


def host_places() -> list[tuple[str, int]]:
    """Return the addresses of this host but its loopback, with each port that anything listens at."""
    shown = run(["ip", "-json", "-4", "address"], timeout_s=20).require().text
    addresses = [
        row["local"]
        for link in json.loads(shown)
        for row in link["addr_info"]
        if not row["local"].startswith("127.")
    ]
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ports = {int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == LISTENS}
    assert addresses
    assert ports
    return [(address, port) for address in addresses for port in sorted(ports)]


def test_a_desktop_reaches_its_world_and_no_other(fleet: LocalFleet, world: World) -> None:
    source = desktop_container_settings()
    changes = {"state_dir": fleet._settings.state_dir, "desktop": "container"}
    desktops = LocalFleet(source.model_copy(update=changes))
    roles = {"pc": ResourceSpec(DESKTOP), "world": ResourceSpec(WORLD, parameters={"seed": 8})}
    with desktops.acquire(roles) as lease:
        own = cast("World", lease.environment.resources["world"])
        authority, person = open_authority(own._settings).certificate, own.persona.person
        other, of_host = world.endpoints[143][0], json.dumps(host_places())
        arguments = [authority, person.email, person.password, other, of_host]
        argv = ["python3", "-I", "-c", ON_DESKTOP, *arguments]
        assert lease.environment.machines["pc"].run(argv, timeout_s=120).require().text == ""
        client = Client(own)
        assert wait_until(lambda: client.has_mail("From the desktop"), timeout_s=20, every_s=0.1)


def test_changes_in_a_world_are_side_effects(world: World) -> None:
    client, watch = Client(world), StateWatch({"world": world, "other": object()}, SYSTEM_CLOCK)
    watch.begin()
    assert client.count(Folder.INBOX) > 500
    assert client.web("GET", "/files/")[0] == 200
    assert client.web("GET", client.collection(Calendar.WORK))[0] == 200
    assert watch.changes() == ()
    mail = world.persona.mails.in_folder(Folder.INBOX).unread().last()
    with client.imap() as server:
        server.select(Folder.INBOX)
        _, (found,) = server.search(None, f'HEADER Message-ID "{mail.id}"')
        server.store(found.decode(), "+FLAGS", "\\Seen")
    client.web("PUT", "/files/new.txt", "new")
    client.send("someone@else.example", "Hello")
    changes = watch.changes()
    assert changes is not None
    rows = {(change.change, change.name.rpartition("/")[0]) for change in changes}
    assert rows == {("changed", "mail/INBOX"), ("added", "files"), ("added", "outside/new")}
    assert any(mail.id in change.name for change in changes)


@pytest.mark.phone
@pytest.mark.adb
def test_the_example_task_is_solved(
    fleet: LocalFleet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(fleet._settings.state_dir))
    get_settings.cache_clear()
    suite = str(REPOSITORY / "examples/suites/world")
    try:
        assert main(["run", suite, "--task", "country-code", "--agent", "oracle", "--json"]) == 0
    finally:
        get_settings.cache_clear()
    (trial,) = json.loads(capsys.readouterr().out)["trials"]
    assert (trial["verdict"], trial["nodes_met"]) == ("PASS", 1)


class NoAnswer:
    """A session without an answer."""

    answer: str | None = None


def test_nobody_else_signs_in(world: World) -> None:
    other = Client(world, persona(8))
    with pytest.raises(imaplib.IMAP4.error, match="failed"):
        other.imap()
    with pytest.raises(smtplib.SMTPAuthenticationError):
        other.send("a@b.example", "Hello")
    assert other.web("GET", "/files/")[0] == 401
    assert Client(world).web("GET", "/files/", is_signed_in=False)[0] == 401
    assert other.web("PROPFIND", Client(world).collection(Calendar.WORK))[0] in {401, 403}


def test_the_control_is_the_appliances_only(world: World) -> None:
    assert all(port != 8090 for _, port in world.endpoints.values())
    address, _ = world.endpoints[80]
    with pytest.raises(MachineError, match="refused"):
        WorldControl(address, "guess", "w").digest()


def test_a_world_opens_no_connection(world: World) -> None:
    """Try ports of this host and another address from inside the container."""
    code = (
        "import socket\n"
        "for place in [('172.17.0.1', 22), ('1.1.1.1', 53)]:\n"
        "    try: socket.create_connection(place, 3); print('open')\n"
        "    except OSError as exc: print(exc.errno)\n"
    )
    with connect(doing="run a program") as client:
        container = client.containers.get(container_name(world.info.machine_id))
        output = cast("bytes", container.exec_run(["python3", "-c", code]).output)
    assert output.decode().split() == ["101", "101"]


def test_a_trial_that_destroys_everything_leaves_nothing(lease: Lease, world: World) -> None:
    before = world.control.digest()
    client = Client(world)
    with client.imap() as server:
        server.select(Folder.INBOX)
        server.store("1:*", "+FLAGS", "\\Deleted")
        server.expunge()
        server.create("Mine")
    assert client.count(Folder.INBOX) == 0
    assert client.web("DELETE", client.collection(Calendar.WORK), depth="infinity")[0] == 200
    assert client.web("DELETE", "/files/Documents/", depth="infinity")[0] == 204
    statuses = {client.web("PUT", f"/files/{n}.bin", "x" * 15_000_000)[0] for n in range(10)}
    assert statuses & {500, 507}
    after = world.control.digest()
    assert len(before.keys() - after.keys()) > 500
    world = cast("World", lease.reset().resources["world"])
    assert world.control.digest() == before
    assert Client(world).count(Folder.INBOX) == len(world.persona.mails.in_folder(Folder.INBOX))
    assert Client(world).web("GET", "/files/0.bin")[0] == 404


def test_a_difference_after_a_reset_is_noticed(world: World) -> None:
    path = world.folder.path / "snapshots" / f"{READY}.tar"
    whole = path.read_bytes()
    # The world gets another archive than the host compares with.
    snapshots = world.snapshots
    changed = whole.replace(b"Subject: Your order", b"Subject: Our orders", 1)
    assert changed != whole
    control = world.control
    fill = control.fill
    snapshots._control = control
    control.fill = lambda _: fill(changed)  # type: ignore[assignment, method-assign]
    with pytest.raises(ResetMismatchError) as error:
        snapshots.rewind(READY)
    assert error.value.details.startswith("mail/")


def test_two_worlds_are_apart(fleet: LocalFleet, world: World) -> None:
    with fleet.acquire({"one": ResourceSpec(WORLD, parameters={"seed": 8})}) as other:
        eight = cast("World", other.environment.resources["one"])
        assert eight.info.machine_id != world.info.machine_id
        assert eight.persona.person.email != world.persona.person.email
        Client(eight).send(eight.persona.person.email, "Only here")
        assert wait_until(lambda: Client(eight).has_mail("Only here"), timeout_s=20, every_s=0.1)
        assert not Client(world).has_mail("Only here")


def test_a_released_world_stands_by_frozen(fleet: LocalFleet) -> None:
    spec = ResourceSpec(WORLD, parameters={"seed": 9})
    with fleet.acquire({"world": spec}) as lease:
        world = cast("World", lease.environment.resources["world"])
        Client(world).web("PUT", "/files/new.txt", "new")
    name = container_name(world.info.machine_id)
    with connect(doing="look at a world") as client:
        assert client.containers.get(name).status == "paused"
    with fleet.acquire({"world": spec}) as lease:
        again = cast("World", lease.environment.resources["world"])
        assert again.info.machine_id == world.info.machine_id
        assert lease.environment.resets["world"].path == "standby"
        assert Client(again).web("GET", "/files/new.txt")[0] == 404
        assert Client(again).count(Folder.INBOX) > 500
    # What reached it between its reset and its freezing is noticed.
    with connect(doing="change a world") as client:
        container = client.containers.get(name)
        container.unpause()
        assert container.exec_run(["sh", "-c", "echo x > /state/files/new.txt"]).exit_code == 0
        container.pause()
    with fleet.acquire({"world": spec}) as lease:
        assert lease.environment.resets["world"].path == "rewind"
        again = cast("World", lease.environment.resources["world"])
        assert Client(again).web("GET", "/files/new.txt")[0] == 404


def test_a_stopped_world_starts_as_it_was_filled(world: World) -> None:
    before = world.control.digest()
    Client(world).web("PUT", "/files/new.txt", "new")
    assert world.control.digest() != before
    world.stop()
    assert not world.is_running()
    with pytest.raises(MachineError, match="not running"):
        _ = world.endpoints
    world.start()
    assert world.control.digest() == before


def test_a_killed_server_and_container_are_noticed(world: World) -> None:
    assert world.is_running()
    with connect(doing="kill a server") as client:
        container = client.containers.get(container_name(world.info.machine_id))
        code = "import os, signal; os.kill(int(open('/run/world/exim.pid').read()), signal.SIGKILL)"
        assert container.exec_run(["python3", "-c", code]).exit_code == 0
        assert wait_until(lambda: bool(world.control.health().ended), timeout_s=20, every_s=0.05)
        assert world.control.health().ended == {"exim": -9}
        assert not world.is_running()
        container.kill()
    with pytest.raises((LinkError, MachineError, EngineError)):
        world.snapshots.rewind(READY)
    world.start()
    assert world.is_running()


def test_an_idle_world_is_small(world: World) -> None:
    Client(world).count(Folder.INBOX)
    assert world.memory_bytes() < 150 * 2**20
