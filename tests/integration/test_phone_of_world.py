"""A phone that is signed in to a world: what is done on one appears on the other."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import pytest

from controller.actions import setup_world
from controller.actions.phone_shell import launch
from controller.actions.setup_accounts import set_clock, sign_in
from evaluators.phone.view import PhoneView
from foundation.clock import wait_until
from foundation.errors import ActionError
from provisioning.protocols import READY
from provisioning.resource import PHONE, ResourceSpec
from provisioning.world.authority import open_authority
from provisioning.world.persona.model.mail import Folder
from provisioning.world.persona.words.sites import SHOP
from tests.integration.test_judged_worlds import ANN, judge
from tests.integration.test_reach import shows
from tests.integration.test_world import SPEC, Client, fleet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from provisioning.fleet.local import LocalFleet
    from provisioning.phone.reference.machine import ReferencePhone
    from provisioning.protocols import Element, Json
    from provisioning.world.resource import World

__all__ = ["fleet"]

pytestmark = [pytest.mark.docker, pytest.mark.phone, pytest.mark.adb]

EVENTS = "content://com.android.calendar/events"
CONTACTS = "content://com.android.contacts/contacts"
RAW, DATA = "content://com.android.contacts/raw_contacts", "content://com.android.contacts/data"


@pytest.fixture
def pair(fleet: LocalFleet) -> Iterator[tuple[ReferencePhone, World]]:
    with fleet.acquire({"phone": ResourceSpec(PHONE), "world": SPEC}) as lease:
        phone = cast("ReferencePhone", lease.environment.machines["phone"])
        world = cast("World", lease.environment.resources["world"])
        person = world.persona.person
        sign_in(phone, person.email, person.password)
        authority = open_authority(world._settings).certificate  # that of the tests' own folder
        ask(phone, "account", "trust", authority)
        yield phone, world


def column(phone: ReferencePhone, uri: str, name: str) -> list[str]:
    view = PhoneView(phone, timeout_s=60)
    return list(view.content(uri, name).values())


def ask(phone: ReferencePhone, *argv: str) -> str:
    return phone.run(argv, timeout_s=60).require().text


def soon(condition: Callable[[], object]) -> bool:
    return wait_until(condition, timeout_s=40, every_s=0.3) is not None


def test_events_and_contacts_appear_on_both(pair: tuple[ReferencePhone, World]) -> None:
    phone, world = pair
    someone = world.persona
    assert sorted(column(phone, CONTACTS, "display_name")) == sorted(
        contact.name for contact in someone.contacts
    )
    titles = column(phone, EVENTS, "title")
    assert {event.title for event in someone.events} == set(titles)
    setup_world.add_event(world, "Visit", "2026-11-24T09:30", 30, place="Room 5")
    assert soon(lambda: "Visit" in column(phone, EVENTS, "title"))
    start_ms = 1795512600000
    times = [f"dtstart:l:{start_ms}", f"dtend:l:{start_ms + 1800000}"]
    binds = [part for bind in ("title:s:Tea", *times) for part in ("--bind", bind)]
    ask(phone, "content", "insert", "--uri", EVENTS, *binds)
    assert soon(lambda: judge(world, "has_event", title="Tea", start="2026-11-24T09:30"))
    ask(
        phone,
        "content",
        "update",
        "--uri",
        EVENTS,
        "--bind",
        "title:s:Dinner",
        "--where",
        "title='Visit'",
    )
    wanted = {"title": "Dinner", "start": "2026-11-24T09:30", "place": "Room 5"}
    assert soon(lambda: judge(world, "has_event", **wanted))
    assert judge(world, "lacks_event", title="Visit")
    ask(phone, "content", "delete", "--uri", EVENTS, "--where", "title='Tea'")
    assert soon(lambda: judge(world, "lacks_event", title="Tea"))
    assert judge(world, "keeps_events", calendar="private")
    assert judge(world, "keeps_events", calendar="work")
    setup_world.add_contact(world, "Bob Ray", email="bob@ray.example", phone="+41 44 555 01 73")
    assert soon(lambda: "Bob Ray" in column(phone, CONTACTS, "display_name"))
    assert judge(world, "keeps_contacts")


def test_one_repetition_is_changed_and_left_out(pair: tuple[ReferencePhone, World]) -> None:
    phone, world = pair

    def days() -> dict[int, str]:
        view = PhoneView(phone, timeout_s=60)
        titles = view.content(EVENTS, "title")
        starts = view.content(EVENTS, "dtstart")
        return {row: starts[row] for row, title in titles.items() if title == birthday}

    birthday = next(event for event in world.persona.events if "Birthday" in event.title).title
    before = days()
    assert len(before) >= 2
    first, second = list(before)[:2]
    update = ("content", "update", "--uri", EVENTS, "--bind", "title:s:Party")
    ask(phone, *update, "--where", f"_id={first}")
    ask(phone, "content", "delete", "--uri", EVENTS, "--where", f"_id={second}")
    day = datetime.fromtimestamp(int(before[first]) / 1000, tz=UTC).date().isoformat()
    assert soon(lambda: judge(world, "has_event", title="Party", start=day))
    ask(phone, "account", "sync")
    assert set(before.values()) - set(days().values()) == {before[first], before[second]}
    assert judge(world, "keeps_events", calendar="birthdays")


def test_the_phone_lives_in_the_persons_present(pair: tuple[ReferencePhone, World]) -> None:
    phone, world = pair
    now = world.persona.now
    set_clock(phone, now.isoformat())
    launch(phone, "Calendar")
    assert named(phone, f"{now:%B %Y}").name
    phone.snapshots.rewind(READY)
    launch(phone, "Calendar")
    assert named(phone, f"{datetime.now(UTC):%B %Y}").name


def test_mail_arrives_and_is_marked(pair: tuple[ReferencePhone, World]) -> None:
    phone, world = pair
    before = len(column(phone, EVENTS, "title"))
    setup_world.deliver_mail(world, f"Ann Lee <{ANN}>", "Lunch", "At noon?")
    ask(phone, "account", "sync")
    ask(phone, "am", "start", "-n", "com.google.android.gm/.ConversationListActivityGmail")
    view = PhoneView(phone, timeout_s=60)
    (row,) = [node for node in view.nodes(resource_id="subject") if node.text == "Lunch"]
    assert row.text == "Lunch"
    ask(phone, "input", "tap", "1007", "380")  # the star of the latest mail
    assert soon(lambda: judge(world, "mail_is_marked", subject="Lunch", flagged=True, seen=False))
    client = Client(world)
    with client.imap() as server:
        server.select(Folder.INBOX)
        (found,) = server.search(None, 'SUBJECT "Lunch"')[1]
        server.store(found.decode().split()[-1], "+FLAGS", "\\Deleted")
        server.expunge()
    ask(phone, "account", "sync")
    later = PhoneView(phone, timeout_s=60)
    assert "Lunch" not in [node.text for node in later.nodes(resource_id="subject")]
    assert judge(world, "keeps_mails")
    assert len(column(phone, EVENTS, "title")) == before


def test_files_appear_on_both(pair: tuple[ReferencePhone, World]) -> None:
    phone, world = pair
    found = ask(phone, "find", "/sdcard/Cloud/", "-type", "f").splitlines()
    paths = {f"/sdcard/Cloud/{file.path}" for file in world.persona.files}
    assert set(found) == paths
    letter = world.persona.files.below("Documents/Bank").last()
    assert ask(phone, "cat", f"/sdcard/Cloud/{letter.path}") == letter.text.strip()
    before = phone.summarize()
    ask(phone, "account", "sync")
    assert phone.summarize() == before
    setup_world.store_file(world, "Documents/list.txt", "milk")
    assert soon(lambda: phone.shell("cat /sdcard/Cloud/Documents/list.txt").text == "milk")
    phone.shell("echo eggs > /sdcard/Cloud/Documents/list.txt").require()
    wanted: dict[str, Json] = {"path": "Documents/list.txt", "text": "eggs"}
    assert soon(lambda: judge(world, "stored_file_equals", **wanted))
    phone.shell(
        "mkdir -p '/sdcard/Cloud/New & odd/in' && cd '/sdcard/Cloud/New & odd/in' && echo x > '50%.txt'"
    )
    odd: dict[str, Json] = {"path": "New & odd/in/50%.txt", "text": "x"}
    assert soon(lambda: judge(world, "stored_file_equals", **odd))
    phone.shell("rm /sdcard/Cloud/Documents/list.txt").require()
    assert soon(lambda: judge(world, "lacks_stored_file", path="Documents/list.txt"))
    client = Client(world)
    client.web("DELETE", "/files/New%20%26%20odd/", depth="infinity")
    assert soon(lambda: phone.shell("ls /sdcard/Cloud").text.split() == ["Documents"])
    assert judge(world, "keeps_stored_files", folder="Documents")
    launch(phone, "Files")
    phone.input.click(*named(phone, "Cloud").bounds.center)
    phone.input.click(*named(phone, "Documents").bounds.center)
    assert named(phone, "Receipts").name


def named(phone: ReferencePhone, name: str) -> Element:
    """Return an element that appears, or is further down."""

    def look() -> list[Element]:
        return [node for node in phone.tree.elements() if node.name == name]

    for _ in range(8):
        if found := wait_until(look, timeout_s=3, every_s=0.2):
            return found[0]
        phone.shell("input swipe 500 1800 500 900").require()
    raise AssertionError([node.name for node in phone.tree.elements()])


def test_the_browser_is_signed_in(pair: tuple[ReferencePhone, World]) -> None:
    phone, world = pair
    assert shows(phone, f"https://{SHOP}/orders", world.persona.person.name)
    number = world.persona.orders.last().number
    assert named(phone, number).name == number
    launch(phone, "Browser")
    product = world.persona.products.in_stock()[0]
    assert shows(phone, f"https://{SHOP}/product/{product.number}", product.name)
    for button in ("Add to cart", "Go to checkout", "Place order"):
        phone.input.click(*named(phone, button).bounds.center)
    items: list[Json] = [{"article": product.number, "quantity": 1}]
    assert soon(lambda: judge(world, "has_order", items=items))
    assert soon(lambda: judge(world, "has_order_mail", items=items))


def test_a_wrong_password_is_refused_and_a_rewind_signs_out(
    pair: tuple[ReferencePhone, World],
) -> None:
    phone, world = pair
    assert ask(phone, "account", "show").strip() == world.persona.person.email
    phone.snapshots.rewind(READY)
    assert ask(phone, "account", "show").strip() == "not signed in"
    assert column(phone, EVENTS, "title") == []
    with pytest.raises(ActionError):
        sign_in(phone, world.persona.person.email, "wrong")
    assert ask(phone, "account", "show").strip() == "not signed in"
