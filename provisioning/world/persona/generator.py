"""Make a persona from a seed."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from foundation.errors import UsageError
from provisioning.world.persona.draws import Draws
from provisioning.world.persona.making import (
    browsing,
    correspondence,
    journeys,
    occasions,
    papers,
    people,
    shopping,
)
from provisioning.world.persona.model.records import PersonaRecords

if TYPE_CHECKING:
    from collections.abc import Iterable

    from provisioning.world.persona.making.life import Life

T = TypeVar("T")

DEFAULT_SEED = 0
"""Seed of the persona of a world that asks for none."""
MAX_SEED = 2**63 - 1

_PARTS = (
    people.add_organisations,
    people.add_contacts,
    shopping.add_products,
    shopping.add_orders,
    # Journeys come first, as nothing else takes place on their days.
    journeys.add_journeys,
    occasions.add_birthdays,
    occasions.add_weekly_events,
    occasions.add_appointments,
    occasions.add_meetings,
    occasions.add_outings,
    journeys.add_everyday_photos,
    correspondence.add_work_threads,
    correspondence.add_private_threads,
    correspondence.add_newsletters,
    correspondence.add_junk,
    correspondence.add_drafts,
    correspondence.add_chats,
    papers.add_statements,
    papers.add_bills,
    papers.add_minutes,
    papers.add_lists,
    papers.add_notes,
    browsing.add_visits,
    browsing.add_bookmarks,
)
"""Parts of a life, in the order in which they need each other."""


def make_records(seed: int) -> PersonaRecords:
    """Return the records of the persona with a seed, the same in every process.

    Args:
        seed: 0 to `MAX_SEED`.

    Raises:
        UsageError: the seed is out of range.
    """
    if not 0 <= seed <= MAX_SEED:
        raise UsageError(f"{seed} is not the seed of a persona.", f"Seeds are 0 to {MAX_SEED}.")
    life = people.begin_life(seed, Draws(seed))
    for add in _PARTS:
        add(life)
    return _finish(life)


def _finish(life: Life) -> PersonaRecords:
    """Return the records of a complete life, in the order of time."""
    return PersonaRecords(
        seed=life.seed,
        now=life.now,
        person=life.person,
        organisations=tuple(life.organisations),
        contacts=tuple(life.contacts),
        mails=_ordered(life.mails, "sent"),
        messages=_ordered(life.messages, "sent"),
        events=_ordered(life.events, "start"),
        products=tuple(life.products),
        orders=_ordered(life.orders, "placed"),
        files=_ordered(life.files, "modified"),
        notes=_ordered(life.notes, "edited"),
        photos=_ordered(life.photos, "taken"),
        visits=_ordered(life.visits, "visited"),
        bookmarks=_ordered(life.bookmarks, "added"),
    )


def _ordered(records: Iterable[T], time: str) -> tuple[T, ...]:
    """Return records by time, then by id."""
    return tuple(sorted(records, key=attrgetter(time, "id")))
