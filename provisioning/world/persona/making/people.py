"""The person, employer, organisations and contacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from provisioning.world.persona.making.life import Life, moment, record_id, to_ascii
from provisioning.world.persona.model.people import Address, Contact, Group, Organisation, Person
from provisioning.world.persona.words import catalogue, sentences
from provisioning.world.persona.words.locales import LOCALES, Locale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.world.persona.draws import Draws

_FIRST_DAY = date(2024, 3, 4)
_LAST_DAY = date(2026, 10, 30)
_WORKDAYS = 5


def begin_life(seed: int, draws: Draws) -> Life:
    """Return a life with a person, and no other record yet."""
    here = draws.stream("person")
    day = _FIRST_DAY + timedelta(days=here.integer(0, (_LAST_DAY - _FIRST_DAY).days))
    while day.weekday() >= _WORKDAYS:
        day -= timedelta(days=1)
    locale = here.choice(LOCALES)
    given, family = here.choice(locale.women + locale.men), here.choice(locale.families)
    age = here.integer(27, 61)
    person = Person(
        id=record_id(seed, "person", 0),
        given=given,
        family=family,
        email=f"{to_ascii(given)}.{to_ascii(family)}@{_new_domain(here)}",
        password=_new_password(draws.stream("password")),
        phone=here.digits(locale.phone),
        birthday=_birthday(here, day.year - age),
        home=make_address(here, locale, here.choice(locale.towns)),
        employer=f"{make_brand(here)} {here.choice(catalogue.BUSINESSES)}",
        job=here.choice(sentences.JOBS),
        locale=locale.code,
        currency=locale.currency,
        card=here.digits("####"),
    )
    now = moment(day, here.integer(8, 10), here.integer(0, 59))
    return Life(seed=seed, draws=draws, now=now, locale=locale, person=person)


def add_organisations(life: Life) -> None:
    """Add those whom mail comes from besides contacts."""
    draws = life.draws.stream("organisations")
    town = life.person.home.town
    sites = {
        "shop": f"{make_brand(draws)} Market",
        "bank": f"{make_brand(draws)} Bank",
        "rail": f"{make_brand(draws)} Rail",
        "hotel": f"{make_brand(draws)} Hotels",
        "energy": f"{make_brand(draws)} Energy",
        "telephone": f"{make_brand(draws)} Mobile",
        "library": f"{town} Public Library",
    }
    newsletters = [title for title, _, _ in draws.sample(sentences.NEWSLETTERS, 5)]
    named = [
        *sites.items(),
        *((f"newsletter {place}", name) for place, name in enumerate(newsletters)),
    ]
    for site, name in named:
        is_own = not site.startswith("newsletter")
        domain = _new_domain(draws, name if is_own else "")
        address = f"{draws.choice(('hello', 'service', 'info', 'post'))}@{domain}"
        life.organisations.append(
            Organisation(id=life.new_id("organisation"), name=name, email=address, site=site)
        )


def add_contacts(life: Life) -> None:
    """Add family, friends, colleagues, neighbours and services."""
    circle = _Circle(life, life.draws.stream("contacts"))
    _add_family(circle)
    for _ in range(circle.draws.integer(26, 38)):
        circle.add(Group.FRIENDS, "friend", age=circle.age_near(life.person, 9))
    _add_colleagues(circle)
    for _ in range(circle.draws.integer(4, 7)):
        circle.add(Group.NEIGHBOURS, "neighbour", address=circle.next_door())
    for service in sentences.SERVICES:
        circle.add(
            Group.SERVICES, service, organisation=f"{service.title()} {life.person.home.town}"
        )


def make_brand(draws: Draws) -> str:
    """Return an invented name of a maker or company."""
    start = draws.choice(catalogue.BRAND_STARTS)
    return start + draws.choice(catalogue.BRAND_MIDDLES) + draws.choice(catalogue.BRAND_ENDS)


def make_address(draws: Draws, locale: Locale, town: str, street: str = "") -> Address:
    """Return an address in a town."""
    street, number = street or draws.choice(locale.streets), draws.integer(1, 148)
    return Address(
        street=f"{number} {street}" if locale.is_number_first else f"{street} {number}",
        postcode=draws.digits(locale.postcode),
        town=town,
        country=locale.country,
    )


def _new_domain(draws: Draws, name: str = "") -> str:
    """Return a domain below ``.example``, which no real one is (RFC 2606)."""
    return f"{to_ascii(name or make_brand(draws))}.example"


def _new_password(draws: Draws) -> str:
    """Return a password that people can read and type."""
    words = draws.sample([to_ascii(thing) for thing in sentences.OBJECTS], 2)
    return draws.digits(f"{'-'.join(words)}-####")


def _birthday(draws: Draws, year: int) -> date:
    return date(year, draws.integer(1, 12), draws.integer(1, 28))


@dataclass(slots=True)
class _Circle:
    """The contacts of a life, while they are added."""

    life: Life
    draws: Draws
    providers: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    phones: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        person = self.life.person
        self.names.add(person.name)
        self.phones.add(person.phone)
        self.providers = [person.email.partition("@")[2]]
        self.providers += [_new_domain(self.draws) for _ in range(4)]

    def add(  # noqa: PLR0917 - what is known about a contact
        self,
        group: Group,
        relation: str,
        age: int | None = None,
        family: str = "",
        address: Address | None = None,
        organisation: str = "",
    ) -> None:
        given, family = self._new_name(family)
        locale, draws = self.life.locale, self.draws
        if address is None and draws.chance(0.6):
            address = make_address(draws, locale, draws.choice(locale.towns))
        is_colleague = group in {Group.COLLEAGUES, Group.SERVICES}
        domain = _new_domain(draws, organisation) if is_colleague else draws.choice(self.providers)
        self.life.contacts.append(
            Contact(
                id=self.life.new_id("contact"),
                given=given,
                family=family,
                email=f"{to_ascii(given)}.{to_ascii(family)}@{domain}",
                phone=self._new_phone(),
                group=group,
                relation=relation,
                birthday=None if age is None else _birthday(draws, self.life.today.year - age),
                address=address,
                organisation=organisation,
            )
        )

    def age_near(self, person: Person, years: int) -> int | None:
        """Return an age that is known of most people."""
        age = self.life.today.year - person.birthday.year + self.draws.integer(-years, years)
        return age if self.draws.chance(0.6) else None

    def next_door(self) -> Address:
        """Return an address in the person's street."""
        home, locale = self.life.person.home, self.life.locale
        street = home.street.strip("0123456789 ")
        house = make_address(self.draws, locale, home.town, street)
        return house.model_copy(update={"postcode": home.postcode})

    def _new_name(self, family: str) -> tuple[str, str]:
        """Return a name that nobody has yet, also not in an address."""
        locale = self.life.locale
        while True:
            given = self.draws.choice(locale.women + locale.men)
            chosen = family or self.draws.choice(locale.families)
            if f"{given} {chosen}" not in self.names:
                self.names.add(f"{given} {chosen}")
                return given, chosen

    def _new_phone(self) -> str:
        while (phone := self.draws.digits(self.life.locale.phone)) in self.phones:
            pass
        self.phones.add(phone)
        return phone


def _add_family(circle: _Circle) -> None:
    draws, person = circle.draws, circle.life.person
    age = circle.life.today.year - person.birthday.year
    relatives: list[tuple[str, int]] = [
        ("mother", age + draws.integer(21, 33)),
        ("father", age + draws.integer(23, 37)),
    ]
    relatives += [("sister", age + draws.integer(1, 9)) for _ in range(draws.integer(0, 2))]
    relatives += [("brother", age - draws.integer(1, 9)) for _ in range(draws.integer(0, 2))]
    relatives += [("cousin", age + draws.integer(-9, 9)) for _ in range(draws.integer(2, 5))]
    relatives += [("aunt", age + draws.integer(18, 30)), ("uncle", age + draws.integer(18, 30))]
    household: list[tuple[str, int]] = []
    if draws.chance(0.75):
        household.append(("partner", age + draws.integer(-6, 6)))
        oldest = min(18, age - 24)
        household += [
            ("child", draws.integer(2, max(2, oldest))) for _ in range(draws.integer(0, 3))
        ]
    for relation, years in household:
        circle.add(Group.FAMILY, relation, age=years, family=person.family, address=person.home)
    for relation, years in relatives:
        is_named = relation in {"father", "sister", "brother", "uncle"} or draws.chance(0.4)
        circle.add(Group.FAMILY, relation, age=years, family=person.family if is_named else "")


def _add_colleagues(circle: _Circle) -> None:
    employer = circle.life.person.employer
    own = circle.draws.choice(sentences.DEPARTMENTS)
    relations: Sequence[str] = [
        "manager",
        *(f"{own} team" for _ in range(circle.draws.integer(5, 8))),
        *(circle.draws.choice(sentences.DEPARTMENTS) for _ in range(circle.draws.integer(16, 24))),
    ]
    for relation in relations:
        age = circle.age_near(circle.life.person, 15) if circle.draws.chance(0.4) else None
        circle.add(Group.COLLEAGUES, relation, age=age, organisation=employer)
