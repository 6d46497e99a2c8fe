"""Evaluators that compare values on several machines, or on a machine and in the answer.

A place defines where a value is: the role of a machine, the kind of value, and its location. A
place without a value (no such file, cell, setting or row) is not equal to anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Union

from pydantic import BaseModel, ConfigDict, Field

from evaluators.comparing import ComparisonMethod, is_same, is_same_picture
from evaluators.decorators import MachinePath, evaluator
from evaluators.session.answers import read_answer
from evaluators.sheets.seen import see_cell
from evaluators.world.reading import value_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluators.session.view import CrossView

CONTACTS = "content://com.android.contacts/contacts"
PHONES = "content://com.android.contacts/data/phones"
EMAILS = "content://com.android.contacts/data/emails"
_MAX_TEXT_BYTES = 1 << 20


class _Place(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FileText(_Place):
    """A text file, or one line of it."""

    read: Literal["file"]
    on: str
    path: str
    line: Annotated[int, Field(ge=0)] = 0
    """Line number, from 1; 0 for the whole file."""

    def values(self, view: CrossView) -> list[str]:
        """Return the text; empty list if there is none."""
        data = view.machine(self.on).fetch(self.path)
        if data is None or len(data) > _MAX_TEXT_BYTES:
            return []
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return []
        if not self.line:
            return [text]
        return text.splitlines()[self.line - 1 : self.line]


class SheetCell(_Place):
    """The value of a spreadsheet's cell, on its first visible sheet unless another is named."""

    read: Literal["cell"]
    on: str
    path: str
    cell: str
    sheet: str = ""

    def values(self, view: CrossView) -> list[str]:
        """Return the value as text; empty list if there is none, or the cell does not show it.

        Whole numbers have no decimal point; dates and times are in ISO notation.
        """
        seen = see_cell(view.machine(self.on), self.path, self.sheet, self.cell)
        text = seen.text if seen is not None else None
        return [] if text is None else [text]


class DesktopSetting(_Place):
    """A GSettings value of a desktop's user."""

    read: Literal["gsetting"]
    on: str
    name: str
    """Schema and key, separated by a space."""

    def values(self, view: CrossView) -> list[str]:
        """Return the value; empty list if there is none."""
        schema, _, key = self.name.partition(" ")
        return [view.gsetting(self.on, schema, key)]


class PhoneSetting(_Place):
    """A setting of a phone."""

    read: Literal["setting"]
    on: str
    namespace: Literal["system", "secure", "global"]
    key: str

    def values(self, view: CrossView) -> list[str]:
        """Return the value; empty list if there is none."""
        setting = view.phone(self.on).setting(self.namespace, self.key)
        return [] if setting is None else [setting]


class ContactField(_Place):
    """The telephone numbers or e-mail addresses of a contact on a phone."""

    read: Literal["contact"]
    on: str
    name: str
    field: Literal["number", "email"]

    def values(self, view: CrossView) -> list[str]:
        """Return all numbers or addresses of the contact."""
        phone = view.phone(self.on)
        names = phone.content(CONTACTS, "display_name")
        wanted = {str(row) for row, name in names.items() if name.strip() == self.name.strip()}
        uri = PHONES if self.field == "number" else EMAILS
        rows = phone.rows(uri, "contact_id", "data1") if wanted else []
        return [row["data1"] for row in rows if row["contact_id"] in wanted]


class RowField(_Place):
    """A column of the rows of a phone's content provider in which another column has a given value."""

    read: Literal["content"]
    on: str
    uri: str
    column: str
    where: str
    equals: str

    def values(self, view: CrossView) -> list[str]:
        """Return the column of every such row."""
        rows = view.phone(self.on).rows(self.uri, *dict.fromkeys((self.where, self.column)))
        return [row[self.column] for row in rows if row[self.where] == self.equals]


class ShownText(_Place):
    """The text of an element on a phone's screen, by its resource id."""

    read: Literal["ui"]
    on: str
    package: str
    resource_id: str

    def values(self, view: CrossView) -> list[str]:
        """Return the text of every such element."""
        phone = view.phone(self.on)
        nodes = phone.nodes(resource_id=self.resource_id, package=self.package)
        return [node.text for node in nodes]


class PageValue(_Place):
    """The text of an element of a page of a world's site, when the task is judged."""

    read: Literal["page"]
    on: str
    url: str
    element: str
    """Id of the element."""

    def values(self, view: CrossView) -> list[str]:
        """Return the text; empty list if the page or the element does not exist."""
        value = value_on(view.world(self.on).page(self.url), self.element)
        return [] if value is None else [value]


class Answer(_Place):
    """The submitted answer."""

    read: Literal["answer"]

    def values(self, view: CrossView) -> list[str]:
        """Return the answer; empty list if there is none."""
        answer = read_answer(view)
        return [] if answer is None else [answer]


Place = Annotated[
    Union[  # noqa: UP007 - pydantic reads it when the module is loaded
        FileText,
        SheetCell,
        DesktopSetting,
        PhoneSetting,
        ContactField,
        RowField,
        ShownText,
        PageValue,
        Answer,
    ],
    Field(discriminator="read"),
]


@evaluator(on="session")
def values_equal(
    view: CrossView, left: Place, right: Place, way: ComparisonMethod = "exact"
) -> bool:
    """Return whether the value at one place equals the value at another, on any machines.

    If a place has several values (a contact's numbers), one of them must be equal. Empty values are
    not equal to anything, and neither is a cell that does not show its value, as in ``cell_equals``.
    Proves the state, not who caused it.

    Args:
        view: the session and its machines.
        left: one place.
        right: the other.
        way: ``exact`` ignores white space at the ends; ``normal`` also letter case and runs of white
            space; ``number`` compares plain decimal numbers, as accepted by ``answer_is_number``;
            ``digits`` compares telephone numbers.

    Example:
        ``{on: session, check: values_equal, with: {left: {read: file, on: desktop, path: ~/a.txt},
        right: {read: contact, on: phone, name: Ann, field: number}, way: digits}}``
    """
    return _meet(left.values(view), right.values(view), way)


@evaluator(on="session")
def value_among_lines(
    view: CrossView, value: Place, file: FileText, way: ComparisonMethod = "exact"
) -> bool:
    """Return whether a line of a text file equals the value at another place.

    Proves the state, not who caused it.

    Args:
        view: the session and its machines.
        value: where the value is.
        file: the text file; its ``line`` is ignored.
        way: way of comparison, as in ``values_equal``.

    Example:
        ``{on: session, check: value_among_lines, with: {
        value: {read: setting, on: phone, namespace: global, key: device_name},
        file: {read: file, on: desktop, path: ~/a.txt}}}``
    """
    texts = file.model_copy(update={"line": 0}).values(view)
    return _meet(value.values(view), [line for text in texts for line in text.splitlines()], way)


@evaluator(on="session")
def files_equal(
    view: CrossView, left_on: str, left: MachinePath, right_on: str, right: MachinePath
) -> bool:
    """Return whether two files, on one machine or two, have the same content and are not empty.

    Proves the state, not who caused it.

    Args:
        view: the session and its machines.
        left_on: role of one machine.
        left: path of its file.
        right_on: role of the other machine.
        right: path of its file.

    Example:
        ``{on: session, check: files_equal, with: {left_on: desktop, left: ~/a.pdf,
        right_on: phone, right: /sdcard/Download/a.pdf}}``
    """
    left_bytes, right_bytes = view.machine(left_on).fetch(left), view.machine(right_on).fetch(right)
    return bool(left_bytes) and left_bytes == right_bytes


@evaluator(on="session")
def pictures_equal(
    view: CrossView, left_on: str, left: MachinePath, right_on: str, right: MachinePath
) -> bool:
    """Return whether two picture files, on one machine or two, look the same.

    One of them may be scaled proportionally, or saved in another format; a changed word on a page
    of text is a difference, if it can be read in both, and so is any part that looks different. Proves the state, not who caused it.

    Args:
        view: the session and its machines.
        left_on: role of one machine.
        left: path of its picture.
        right_on: role of the other machine.
        right: path of its picture.

    Example:
        ``{on: session, check: pictures_equal, with: {left_on: desktop, left: ~/a.png,
        right_on: phone, right: /sdcard/Pictures/a.jpg}}``
    """
    first, second = view.machine(left_on).picture(left), view.machine(right_on).picture(right)
    return (
        first is not None and second is not None and is_same_picture(first, second, everywhere=True)
    )


def _meet(left: Sequence[str], right: Sequence[str], way: ComparisonMethod) -> bool:
    return any(is_same(text, other, way) for text in left for other in right)
