"""View of a world for evaluators: what its servers have, each read once a wave."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import EvaluationError
from provisioning.world.persona.model.calendar import Calendar
from provisioning.world.persona.persona import persona
from provisioning.world.state.collections import CONTACTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from evaluators.world.records import Page, StoredMail, StoredOrder
    from foundation.clock import Clock
    from provisioning.world.persona.persona import Persona

    T = TypeVar("T")


class WorldSource(Protocol):
    """Reads the servers of one world as its person does; the appliance's own data by its control.

    All methods raise `LinkError` if the world does not answer.
    """

    @property
    def seed(self) -> int:
        """Return the seed of its persona."""
        ...

    def folders(self) -> Sequence[str]:
        """Return the names of the mailbox's folders."""
        ...

    def heads(self, folder: str) -> Sequence[StoredMail] | None:
        """Return the mails of a folder with their headers only; None if there is no such folder."""
        ...

    def mail(self, folder: str, uid: str) -> bytes | None:
        """Return the source of a mail; None if it is not there any more."""
        ...

    def outside(self) -> Sequence[bytes]:
        """Return the sources of the mails that left the world, the oldest first."""
        ...

    def collection(self, name: str) -> str | None:
        """Return all members of a calendar or address book; None if it does not exist."""
        ...

    def file(self, path: str) -> bytes | None:
        """Return the content of a file in the person's folder; None if it does not exist."""
        ...

    def orders(self) -> Sequence[StoredOrder]:
        """Return the orders in the shop, the latest first."""
        ...

    def page(self, url: str) -> Page:
        """Return a page of a site, which is opened without an account."""
        ...


class WorldView:
    """View of a world for evaluators; created for each wave, caches what it reads.

    Args:
        source: the world's servers.
        timeout_s: total time limit of all reads through this view.
        clock: clock for the time limit.
    """

    def __init__(
        self, source: WorldSource, *, timeout_s: float, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._source = source
        self._clock = clock
        self._deadline_s = clock.monotonic_s() + timeout_s
        self._known: dict[tuple[str, ...], object] = {}

    @cached_property
    def persona(self) -> Persona:
        """The persona that the world was filled with."""
        return persona(self._source.seed)

    def folders(self) -> Sequence[str]:
        """Return the names of the mailbox's folders."""
        return self._once(("folders",), self._source.folders)

    def mails(self, folder: str) -> Sequence[StoredMail]:
        """Return the mails of a folder with their headers only; empty if there is no such folder."""
        found = self._once(("mails", folder), lambda: self._source.heads(folder))
        return () if found is None else found

    def mail(self, folder: str, uid: str) -> bytes | None:
        """Return the source of a mail; None if it is not there any more."""
        return self._once(("mail", folder, uid), lambda: self._source.mail(folder, uid))

    def outside(self) -> Sequence[bytes]:
        """Return the sources of the mails that left the world, the oldest first."""
        return self._once(("outside",), self._source.outside)

    def calendars(self, calendar: str = "") -> list[str]:
        """Return the content of a calendar, or of all; empty if it does not exist."""
        names = [calendar] if calendar else [known.value for known in Calendar]
        found = (self._collection(name) for name in names)
        return [text for text in found if text is not None]

    def contacts(self) -> str:
        """Return the content of the address book; empty if it does not exist."""
        return self._collection(CONTACTS) or ""

    def file(self, path: str) -> bytes | None:
        """Return the content of a file in the person's folder; None if it does not exist."""
        return self._once(("file", path), lambda: self._source.file(path))

    def orders(self) -> Sequence[StoredOrder]:
        """Return the orders in the shop, the latest first."""
        return self._once(("orders",), self._source.orders)

    def page(self, url: str) -> Page:
        """Return a page of a site as it is now, which is opened without an account."""
        return self._once(("page", url), lambda: self._source.page(url))

    def _collection(self, name: str) -> str | None:
        return self._once(("collection", name), lambda: self._source.collection(name))

    def _once(self, key: tuple[str, ...], read: Callable[[], T]) -> T:
        """Return what was read before, or read it.

        Raises:
            EvaluationError: the view's time limit expired.
        """
        if key not in self._known:
            if self._clock.monotonic_s() > self._deadline_s:
                raise EvaluationError(f"The time limit expired before reading {key[0]}.")
            self._known[key] = read()
        known: T = self._known[key]  # type: ignore[assignment] # what `read` of this key returned
        return known
