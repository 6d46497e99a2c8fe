"""What the sites of a world show besides the shop: a map, repositories, news, pictures."""

from __future__ import annotations

import json
from datetime import timedelta
from math import cos, hypot, radians
from typing import TYPE_CHECKING, Any

from provisioning.world.persona.draws import Draws
from provisioning.world.persona.making.life import to_ascii
from provisioning.world.persona.words import code
from provisioning.world.persona.words.locales import LOCALES
from provisioning.world.persona.words.sentences import HEADLINES
from provisioning.world.state.archive import StateFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.world.persona.model.people import Contact
    from provisioning.world.persona.persona import Persona

SITES = "sites"
"""Folder of all sites in the state."""
_KM_A_DEGREE = 111.2
_NEIGHBOURS = 3
_KINDS = (
    "Library",
    "Station",
    "Museum",
    "Bakery",
    "Pharmacy",
    "Swimming Pool",
    "Town Hall",
    "Cafe",
)
_REPOSITORIES = 14
_NEWS_DAYS = 100


def site_files(persona: Persona) -> Iterator[StateFile]:
    """Return the files of the sites."""
    now_s = int(persona.now.timestamp())
    person = persona.person
    parts = {
        "about.json": {
            "now": persona.now.isoformat(),
            "name": person.name,
            "email": person.email,
            "currency": person.currency,
            "seed": persona.records.seed,
        },
        "maps.json": _map(persona),
        "news.json": _news(persona),
        "pictures.json": [_picture(persona, number) for number in range(len(persona.photos))],
        "favourites.json": [],
    }
    for name, value in parts.items():
        yield _file(name, value, now_s)
    for repository in _repositories(persona):
        name = f"code/{repository['owner']}--{repository['name']}.json"
        yield _file(name, repository, now_s)


def _file(name: str, value: object, mtime_s: int) -> StateFile:
    text = json.dumps(value, indent=1, sort_keys=True)
    return StateFile(f"{SITES}/{name}", text.encode(), mtime_s)


def _map(persona: Persona) -> dict[str, Any]:
    """Return the towns of the person's country with their roads, and places in them."""
    draws = Draws(persona.records.seed, "map")
    locale = next(known for known in LOCALES if known.code == persona.person.locale)
    towns = [
        {
            "name": town,
            "latitude": round(locale.south + spot * 0.21 + 0.02, 5),
            "longitude": round(locale.west + (spot * 5 % 14) * 0.23 + 0.025, 5),
        }
        for spot, town in enumerate(locale.towns)
    ]
    home = persona.person.home
    postcodes = {town: draws.digits(locale.postcode) for town in locale.towns}
    postcodes[home.town] = home.postcode
    places = [
        {
            "name": f"{town} {kind}",
            "kind": kind,
            "town": town,
            "street": _street(draws, locale.streets, is_number_first=locale.is_number_first),
            "postcode": postcodes[town],
            "opens": f"{draws.integer(6, 10):02d}:00",
            "closes": f"{draws.integer(16, 22):02d}:00",
        }
        for town in locale.towns
        for kind in draws.sample(_KINDS, draws.integer(4, len(_KINDS)))
    ]
    addresses = [persona.person.home, *(c.address for c in persona.contacts if c.address)]
    known = [
        {
            "name": address.street,
            "kind": "Address",
            "town": address.town,
            "street": address.street,
            "postcode": address.postcode,
            "opens": "",
            "closes": "",
        }
        for address in dict.fromkeys(addresses)
        if address.country == locale.country
    ]
    return {
        "country": locale.country,
        "towns": towns,
        "roads": _roads(towns),
        "places": places + known,
    }


def _street(draws: Draws, streets: tuple[str, ...], *, is_number_first: bool) -> str:
    street, number = draws.choice(streets), draws.integer(1, 90)
    return f"{number} {street}" if is_number_first else f"{street} {number}"


def _roads(towns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return roads from each town to its nearest ones, which connect all."""
    roads: dict[tuple[str, str], float] = {}
    joined = [towns[0]]
    for town in towns[1:]:
        nearest = sorted(joined, key=lambda other: _distance_km(town, other))[:_NEIGHBOURS]
        for other in nearest:
            roads[other["name"], town["name"]] = _distance_km(town, other)
        joined.append(town)
    return [
        {"from": first, "to": second, "km": round(km * 1.2, 1), "name": f"Road {number}"}
        for number, ((first, second), km) in enumerate(sorted(roads.items()), 10)
    ]


def _distance_km(first: dict[str, Any], second: dict[str, Any]) -> float:
    north = (first["latitude"] - second["latitude"]) * _KM_A_DEGREE
    scale = cos(radians(float(first["latitude"])))
    return hypot(north, (first["longitude"] - second["longitude"]) * _KM_A_DEGREE * scale)


def _news(persona: Persona) -> list[dict[str, Any]]:
    """Return the articles of the last months, the latest first; the person read some of them."""
    draws = Draws(persona.records.seed, "news")
    towns = next(known for known in LOCALES if known.code == persona.person.locale).towns
    articles = []
    for offset in range(_NEWS_DAYS):
        number = len(HEADLINES) - 1 - offset
        headline = HEADLINES[offset] if number >= 0 else draws.choice(code.HEADLINES)
        town = draws.choice(towns)
        title = headline if number >= 0 else f"{town}: {headline}"
        published = persona.now - timedelta(days=offset, hours=draws.integer(1, 9))
        figure = draws.integer(11, 980)
        articles.append(
            {
                "slug": to_ascii(title) if number >= 0 else f"{to_ascii(title)}-{offset}",
                "title": title,
                "section": draws.choice(code.SECTIONS),
                "published": published.isoformat(),
                "author": f"{draws.choice(code.AUTHORS)}",
                "town": town,
                "text": [
                    code.LEADS[draws.integer(0, len(code.LEADS) - 1)].format(
                        town=town, title=headline
                    ),
                    *(
                        line.format(town=town, figure=figure)
                        for line in draws.sample(code.DETAILS, 3)
                    ),
                ],
            }
        )
    return articles


def _picture(persona: Persona, number: int) -> dict[str, Any]:
    photo = persona.photos[number]
    names = {contact.id: contact.name for contact in persona.contacts}
    return {
        "id": photo.id,
        "album": photo.album,
        "taken": photo.taken.isoformat(),
        "town": photo.town,
        "caption": photo.caption,
        "people": [names[contact] for contact in photo.people],
        "width_px": photo.width_px,
        "height_px": photo.height_px,
    }


def _repositories(persona: Persona) -> Iterator[dict[str, Any]]:
    """Yield repositories of the person and of contacts, with issues and documentation."""
    draws = Draws(persona.records.seed, "code")
    people = [contact for contact in persona.contacts if contact.group in {"colleagues", "friends"}]
    owners = [to_ascii(persona.person.name), *(to_ascii(contact.name) for contact in people[:9])]
    names = draws.sample(code.PROJECTS, _REPOSITORIES)
    for number, (name, about, language) in enumerate(names):
        owner = owners[0] if number < 3 else draws.choice(owners[1:])  # noqa: PLR2004 - the person's own
        options = draws.sample(code.OPTIONS, 5)
        yield {
            "owner": owner,
            "name": name,
            "about": about,
            "language": language,
            "licence": draws.choice(("MIT", "Apache-2.0", "GPL-3.0", "BSD-3-Clause")),
            "version": f"{draws.integer(0, 4)}.{draws.integer(0, 20)}.{draws.integer(0, 9)}",
            "stars": draws.integer(3, 2400),
            "is_starred": draws.chance(0.2),
            "files": _sources(name, about, language, draws),
            "options": [
                {"name": option, "default": default, "about": text}
                for option, default, text in options
            ],
            "issues": _issues(persona, draws, people),
        }


def _sources(name: str, about: str, language: str, draws: Draws) -> dict[str, str]:
    suffix, comment = code.LANGUAGES[language]
    body = "\n".join(draws.sample(code.LINES[language], 4))
    return {
        "README.md": f"# {name}\n\n{about}\n\nInstall it with `get {name}`.\n",
        "CHANGES.md": f"# Changes\n\n- Fixes of {draws.choice(code.TOPICS)}\n",
        f"src/main.{suffix}": f"{comment} {about}\n\n{body}\n",
    }


def _issues(persona: Persona, draws: Draws, people: list[Contact]) -> list[dict[str, Any]]:
    issues = []
    for number in range(1, draws.integer(3, 12)):
        opened = persona.now - timedelta(days=draws.integer(2, 300), minutes=draws.integer(0, 1400))
        issues.append(
            {
                "number": number,
                "title": f"{draws.choice(code.COMPLAINTS)} {draws.choice(code.TOPICS)}",
                "author": to_ascii(draws.choice(people).name),
                "opened": opened.isoformat(),
                "is_open": draws.chance(0.6),
                "labels": draws.sample(("bug", "question", "help wanted", "documentation"), 1),
                "comments": [
                    {
                        "author": to_ascii(draws.choice(people).name),
                        "text": draws.choice(code.REPLIES),
                    }
                ],
                "text": draws.choice(code.REPORTS),
            }
        )
    return issues
