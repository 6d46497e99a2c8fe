"""Setup operations change the servers of a real world, and evaluators ask these servers."""

from __future__ import annotations

import imaplib
import re
from typing import TYPE_CHECKING, cast

import pytest

from controller.actions import setup_world
from controller.actions.vocabulary import vocabulary
from controller.episode.faults import diagnose
from controller.episode.side_effects import StateWatch
from evaluators.graph.outcome import Call
from evaluators.runners import session_runner, world_runner
from evaluators.world.orders import Item
from evaluators.world.servers import WorldServers
from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import ActionError
from images.engine import connect
from provisioning.container_names import container_name
from provisioning.resource import WORLD, ResourceSpec
from provisioning.world.persona.model.calendar import Calendar
from provisioning.world.persona.model.mail import Folder
from provisioning.world.persona.words.sites import WEBMAIL
from tests.integration.test_world import Client, Shopper, fleet, lease, world

if TYPE_CHECKING:
    from provisioning.fleet.local import LocalFleet
    from provisioning.lease import Lease
    from provisioning.protocols import Json
    from provisioning.world.resource import World

__all__ = ["fleet", "lease", "world"]

pytestmark = pytest.mark.docker

ANN = "ann@office.example"


class Session:
    """A session with an answer."""

    answer: str | None = None


def judge(world: World, check: str, **args: Json) -> bool | None:
    """Return what an evaluator says, as in a trial."""
    runner = world_runner(WorldServers(world), vocabulary().evaluators[WORLD])
    (outcome,) = runner.evaluate([Call("n", check, args)], timeout_s=60)
    assert outcome.met is not None, outcome.reason
    return outcome.met


def test_nothing_is_lost_at_first(world: World) -> None:
    assert judge(world, "keeps_mails")
    assert judge(world, "keeps_mails", folder=Folder.SENT)
    assert all(judge(world, "keeps_events", calendar=calendar) for calendar in Calendar)
    assert judge(world, "keeps_contacts")
    assert judge(world, "keeps_orders")
    assert judge(world, "keeps_stored_files", folder="Documents/Bank")
    assert judge(world, "has_no_new_order")
    assert judge(world, "has_sent_nothing")


def test_a_mail_is_sent_received_marked_moved_and_deleted(world: World) -> None:
    client, own = Client(world), world.persona.person.email
    setup_world.deliver_mail(world, f"Ann Lee <{ANN}>", "Lunch", "At noon?\nI bring soup.")
    assert judge(world, "has_mail", subject="Lunch", sender=ANN, to=own, contains="I bring soup")
    assert not judge(world, "has_mail", subject="Lunch", contains="cake")
    assert judge(world, "mail_is_marked", subject="Lunch", seen=False, flagged=False)
    with client.imap() as server:
        server.select(Folder.INBOX)
        (found,) = server.search(None, 'SUBJECT "Lunch"')[1]
        server.store(found.decode().split()[-1], "+FLAGS", "\\Flagged")
        assert judge(world, "mail_is_marked", subject="Lunch", flagged=True)
        server.copy(found.decode().split()[-1], Folder.ARCHIVE)
        server.store(found.decode().split()[-1], "+FLAGS", "\\Deleted")
    assert judge(world, "lacks_mail", subject="Lunch", folder=Folder.INBOX)
    assert not judge(world, "lacks_mail", subject="Lunch")
    assert judge(world, "has_mail", subject="Lunch", folder=Folder.ARCHIVE)
    client.send(ANN, "Re: Lunch")
    assert judge(world, "has_sent_mail", to=ANN, subject="Re: Lunch", contains="See you there.")
    assert not judge(world, "has_sent_nothing")
    assert judge(world, "has_sent_nothing", besides=[ANN])
    assert judge(world, "keeps_mails")
    with client.imap() as server:
        server.select(Folder.INBOX)
        server.store("1", "+FLAGS", "\\Deleted")
    assert not judge(world, "keeps_mails")


def test_events_contacts_and_files_of_the_setup_are_there(world: World) -> None:
    watch = StateWatch({"world": world}, SYSTEM_CLOCK)
    watch.begin()
    setup_world.add_event(
        world,
        "Visit, with Ann",
        "2026-11-24T09:30",
        30,
        calendar=Calendar.WORK,
        place="Room 5",
        guests=[ANN],
    )
    setup_world.add_event(world, "Fair", "2026-11-25")
    setup_world.add_contact(world, "Bob van Ray", email="bob@ray.example", phone="+41 44 123 45 67")
    setup_world.store_file(world, "Documents/New folder/list.txt", "milk\n")
    assert judge(
        world,
        "has_event",
        title="Visit, with Ann",
        start="2026-11-24T09:30",
        end="2026-11-24T10:00",
        calendar="work",
        place="Room 5",
        guests=[ANN],
        repeats="never",
    )
    assert judge(world, "has_event", title="Fair", start="2026-11-25", end="2026-11-26")
    assert judge(world, "lacks_event", title="Fair", calendar="work")
    assert judge(
        world, "has_contact", name="Bob van Ray", email="bob@ray.example", phone="0041441234567"
    )
    assert judge(world, "stored_file_equals", path="Documents/New folder/list.txt", text="milk")
    assert judge(world, "lacks_stored_file", path="Documents/New folder/none.txt")
    changes = watch.changes()
    assert changes is not None
    kinds = sorted(change.name.split("/")[0] for change in changes if change.change == "added")
    assert kinds == ["dav", "dav", "dav", "files"]
    known = world.persona.events.in_calendar(Calendar.WORK).last()
    client = Client(world)
    path = f"{client.collection(Calendar.WORK)}{known.id}.ics"
    assert client.web("DELETE", path)[0] == 200
    assert not judge(world, "keeps_events", calendar="work")
    assert judge(world, "keeps_events", calendar="private")


def test_an_order_is_placed_and_cancelled(world: World) -> None:
    product = world.persona.products.in_stock()[0]
    setup_world.add_order(world, [Item(article=product.number, quantity=2)])
    assert judge(world, "has_order", items=[{"article": product.number, "quantity": 2}])
    assert not judge(world, "has_order", items=[{"article": product.number, "quantity": 1}])
    number = WorldServers(world).orders()[0].number
    assert judge(world, "has_mail", subject=f"Your order {number}")
    shopper, person = Shopper(world), world.persona.person
    shopper.ask("POST", "/sign-in", email=person.email, password=person.password)
    shopper.ask("POST", f"/orders/{number}/cancel")
    assert judge(world, "order_has_status", number=number, status="cancelled")
    assert judge(world, "has_no_new_order")
    subject = f"Order {number} cancelled"
    assert wait_until(lambda: judge(world, "has_mail", subject=subject), timeout_s=20, every_s=0.1)
    setup_world.add_order(world, [Item(article=product.number, quantity=1)], "shipped")
    assert judge(
        world, "has_order", items=[{"article": product.number, "quantity": 1}], status="shipped"
    )
    assert judge(world, "keeps_orders")
    with pytest.raises(ActionError):
        setup_world.add_order(world, [Item(article="none")])


def test_pages_are_read_when_judged(world: World) -> None:
    page = "https://wiki.example/Norway"
    assert judge(world, "page_shows", url=page, text="NOR")
    assert not judge(world, "page_shows", url="https://wiki.example/Nowhere", text="NOR")
    product = world.persona.products.in_stock()[0]
    url = f"https://shop.example/product/{product.number}"
    assert judge(
        world, "page_value_is", url=url, element="price", value=price(world, product.price_cents)
    )
    session, source = Session(), WorldServers(world)
    runner = session_runner(session, vocabulary().evaluators["session"], worlds={"world": source})
    place = {"read": "page", "on": "world", "url": url, "element": "price"}
    args = cast("dict[str, Json]", {"left": place, "right": {"read": "answer"}})
    for answer, met in ((price(world, product.price_cents), True), ("0.00 EUR", False)):
        session.answer = answer
        (outcome,) = runner.evaluate([Call("n", "values_equal", args)], timeout_s=60)
        assert outcome.met is met, outcome.reason


def price(world: World, cents: int) -> str:
    """Return a price as the shop shows it."""
    return f"{cents // 100}.{cents % 100:02d} {world.persona.person.currency}"


def test_web_mail_sends_reads_moves_and_keeps_a_calendar(world: World) -> None:
    shopper, person = Shopper(world), world.persona.person
    assert shopper.ask("GET", "/", WEBMAIL)[0] == "/sign-in?after=/"
    form = {"email": person.email, "password": person.password, "after": "/calendar"}
    assert shopper.ask("POST", "/sign-in", WEBMAIL, **form)[0] == "/calendar"
    text = "Zwölf Uhr?\r\nGr\u00fc\u00dfe"
    sent = {"to": f"{ANN}, {person.email}", "subject": "M\u00fcsli", "text": text}
    assert shopper.ask("POST", "/compose", WEBMAIL, **sent)[0] == "/?folder=Sent"
    assert judge(
        world,
        "has_sent_mail",
        to=ANN,
        subject="M\u00fcsli",
        contains="Zw\u00f6lf Uhr? Gr\u00fc\u00dfe",
    )
    assert judge(world, "has_mail", subject="M\u00fcsli", folder=Folder.SENT)
    assert judge(
        world, "has_mail", subject="M\u00fcsli", contains="Gr\u00fc\u00dfe", to=person.email
    )
    assert "not sent" in shopper.ask("POST", "/compose", WEBMAIL, to="nobody", subject="x")[1]
    page = shopper.ask("GET", "/?q=M%C3%BCsli", WEBMAIL)[1]
    uid = re.findall(r"/mail/INBOX/(\d+)", page)[0]
    assert "Zw\u00f6lf Uhr?" in shopper.ask("GET", f"/mail/INBOX/{uid}", WEBMAIL)[1]
    assert judge(world, "mail_is_marked", subject="M\u00fcsli", seen=True)
    reply = shopper.ask("GET", f"/compose?reply=INBOX/{uid}", WEBMAIL)[1]
    assert "Re: M\u00fcsli" in reply
    answer = {"to": ANN, "subject": "Re: M\u00fcsli", "text": "Yes", "reply": f"INBOX/{uid}"}
    shopper.ask("POST", "/compose", WEBMAIL, **answer)
    assert judge(world, "mail_is_marked", subject="M\u00fcsli", answered=True)
    shopper.ask("POST", f"/mail/INBOX/{uid}", WEBMAIL, action="Archive")
    assert judge(world, "has_mail", subject="M\u00fcsli", folder=Folder.ARCHIVE)
    assert judge(world, "lacks_mail", subject="M\u00fcsli", folder=Folder.INBOX)
    event = {
        "title": "Tea; with Ann",
        "day": "2026-11-24",
        "start": "09:30",
        "end": "10:00",
        "place": "Room 5",
    }
    made = {**event, "calendar": "work"}
    assert shopper.ask("POST", "/calendar/new", WEBMAIL, **made)[0] == "/calendar?month=2026-11"
    wanted: dict[str, Json] = {
        "title": "Tea; with Ann",
        "start": "2026-11-24T09:30",
        "place": "Room 5",
    }
    assert judge(world, "has_event", calendar="work", end="2026-11-24T10:00", **wanted)
    page = shopper.ask("GET", "/calendar?month=2026-11", WEBMAIL)[1]
    path = re.findall(r'"(/calendar/work/[^"]+)">09:30 Tea', page)[0]
    assert "Room 5" in shopper.ask("GET", path, WEBMAIL)[1]
    shopper.ask("POST", path, WEBMAIL)
    assert judge(world, "lacks_event", title="Tea; with Ann")
    contact = world.persona.contacts[0]
    assert contact.email in shopper.ask("GET", f"/contacts?q={contact.family}", WEBMAIL)[1]
    assert all(judge(world, "keeps_events", calendar=calendar) for calendar in Calendar)


def test_a_changed_password_is_that_of_all_servers_and_gone_after_a_reset(
    lease: Lease, world: World
) -> None:
    shopper, person = Shopper(world), world.persona.person
    form = {"email": person.email, "password": person.password}
    shopper.ask("POST", "/sign-in", WEBMAIL, **form)
    change = {"old": person.password, "new": "a new password"}
    assert "was changed" in shopper.ask("POST", "/account", WEBMAIL, **change)[1]
    client = Client(world)
    with pytest.raises(imaplib.IMAP4.error):
        client.count(Folder.INBOX)
    assert client.web("GET", "/files/")[0] == 401
    assert judge(world, "keeps_mails")
    assert judge(world, "keeps_contacts")
    setup_world.store_file(world, "a.txt", "x")
    assert judge(world, "stored_file_equals", path="a.txt", text="x")
    world = cast("World", lease.reset().resources["world"])
    assert Client(world).count(Folder.INBOX) > 500


SIGNAL = """
import os, pathlib, sys
for path in pathlib.Path("/proc").glob("[0-9]*"):
    if (path / "cmdline").read_bytes().startswith(b"/usr/sbin/exim4"):
        os.kill(int(path.name), int(sys.argv[1]))
"""


@pytest.mark.parametrize(("number", "is_by_agent"), [(9, False), (11, True)])
def test_a_killed_server_is_the_environments_and_a_crashed_one_the_agents(
    lease: Lease, world: World, number: int, is_by_agent: bool
) -> None:
    assert diagnose(world) is None
    with connect(doing="run a program") as client:
        container = client.containers.get(container_name(world.info.machine_id))
        argv = ["python3", "-c", SIGNAL, str(number)]
        assert container.exec_run(argv, user="world").exit_code == 0
    found = wait_until(lambda: diagnose(world), timeout_s=20, every_s=0.1)
    assert found is not None
    fault = diagnose(world)
    assert fault is not None
    assert (fault.is_by_agent, fault.has_ended) == (is_by_agent, True)
    assert f"exim ended with -{number}" in fault.detail
    world = cast("World", lease.reset().resources["world"])
    assert diagnose(world) is None


def test_a_full_disk_is_the_agents_and_gone_after_a_reset(lease: Lease, world: World) -> None:
    client = Client(world)
    for number in range(12):
        client.web("PUT", f"/files/{number}.bin", "x" * 15_000_000)
    for number in range(40):
        client.web("PUT", f"/files/small{number}.bin", "x" * 500_000)
    fault = diagnose(world)
    assert fault is not None
    assert (fault.is_by_agent, fault.has_ended) == (True, False)
    world = cast("World", lease.reset().resources["world"])
    assert diagnose(world) is None


def test_a_world_that_is_gone_is_the_environments(fleet: LocalFleet) -> None:
    with fleet.acquire({"world": ResourceSpec(WORLD, parameters={"seed": 8})}) as held:
        other = cast("World", held.environment.resources["world"])
        with connect(doing="end a container") as client:
            client.containers.get(container_name(other.info.machine_id)).kill()
        fault = diagnose(other)
        assert fault is not None
        assert not fault.is_by_agent
