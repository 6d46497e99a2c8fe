"""Evaluators of data of a phone's applications: tasks, contacts, settings.

Source: Android's ``ContactsContract`` for contacts. Google Tasks has no public provider; the
reference phone provides one at ``content://com.google.android.apps.tasks/tasks``.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from evaluators.decorators import evaluator
from evaluators.desktop.visible import alike
from evaluators.phone.numbers import is_same_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.phone.view import PhoneView

TASKS = "content://com.google.android.apps.tasks/tasks"
PHONES = "content://com.android.contacts/data/phones"
EMAILS = "content://com.android.contacts/data/emails"
CONTACTS = "content://com.android.contacts/contacts"


@evaluator(on="phone")
def task_listed(phone: PhoneView, title: str) -> bool:
    """Return whether the Tasks application has an open task with the given title.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        title: complete title of the task, case-sensitive; surrounding white space and invisible
            characters are ignored, and titles that look alike but differ in those are unmet.

    Example:
        ``{on: phone, check: task_listed, with: {title: Buy milk}}``
    """
    return "0" in _states_of(phone, title)


@evaluator(on="phone")
def task_completed(phone: PhoneView, title: str) -> bool:
    """Return whether the Tasks application has a completed task with the given title, and no open one.

    A deleted task does not count as completed. Proves the state, not who caused it.

    Args:
        phone: the phone.
        title: complete title of the task, case-sensitive; surrounding white space and invisible
            characters are ignored, and titles that look alike but differ in those are unmet.

    Example:
        ``{on: phone, check: task_completed, with: {title: Buy milk}}``
    """
    return _states_of(phone, title) == {"1"}


@evaluator(on="phone")
def contact_exists(phone: PhoneView, name: str, number: str = "", email: str = "") -> bool:
    """Return whether a contact has the given name, and the given number and e-mail address, if any.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        name: the complete display name; surrounding white space and invisible characters are
            ignored, and names that look alike but differ in those are unmet.
        number: one of the contact's phone numbers; compared as in ``message_sent``.
        email: one of the contact's e-mail addresses; case-insensitive.

    Example:
        ``{on: phone, check: contact_exists, with: {name: Ann, number: "+41 44 555 01 73"}}``
    """
    contacts = {row["_id"] for row in _named(phone, CONTACTS, "display_name", name)}
    if number:
        rows = phone.rows(PHONES, "contact_id", "data1")
        contacts &= {row["contact_id"] for row in rows if is_same_number(row["data1"], number)}
    if email:
        wanted = email.strip().casefold()
        rows = phone.rows(EMAILS, "contact_id", "data1")
        contacts &= {row["contact_id"] for row in rows if row["data1"].strip().casefold() == wanted}
    return bool(contacts)


@evaluator(on="phone")
def setting_equals(
    phone: PhoneView, namespace: Literal["system", "secure", "global"], key: str, value: str
) -> bool:
    """Return whether a system setting has the given value.

    Numbers are compared as numbers: ``1`` equals ``1.0``. A setting that is not set is unmet.
    Proves the state, not who caused it.

    Args:
        phone: the phone.
        namespace: the setting's table.
        key: name of the setting, such as ``device_name``.
        value: value as printed by ``settings get``.

    Example:
        ``{on: phone, check: setting_equals,
        with: {namespace: global, key: device_name, value: Lab phone}}``
    """
    current = phone.setting(namespace, key)
    return current is not None and (
        current == value or _number(current) == _number(value) is not None
    )


@evaluator(on="phone")
def content_row_exists(phone: PhoneView, uri: str, where: dict[str, str]) -> bool:
    """Return whether a content provider has a row with the given values.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        uri: URI of the table, such as ``content://sms``.
        where: values by column, at least one; NULL equals an empty text.

    Example:
        ``{on: phone, check: content_row_exists,
        with: {uri: "content://sms", where: {body: Hello, type: "2"}}}``
    """
    return bool(where) and bool(_rows(phone, uri, where))


@evaluator(on="phone")
def content_row_count_equals(
    phone: PhoneView, uri: str, where: dict[str, str], count: Annotated[int, Field(ge=0)]
) -> bool:
    """Return whether the number of rows of a content provider with the given values is as given.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        uri: URI of the table, such as ``content://sms``.
        where: values by column, at least one.
        count: number of rows.

    Example:
        ``{on: phone, check: content_row_count_equals,
        with: {uri: "content://sms", where: {address: "555"}, count: 1}}``
    """
    return bool(where) and len(_rows(phone, uri, where)) == count


@evaluator(on="phone")
def package_installed(phone: PhoneView, package: str) -> bool:
    """Return whether an application is installed.

    It is identified by its package name; its displayed name and icon do not matter. Proves the
    state, not who made
    it.

    Args:
        phone: the phone.
        package: the complete package name.

    Example:
        ``{on: phone, check: package_installed, with: {package: org.mozilla.firefox}}``
    """
    return f"package:{package}" in phone.read("pm", "list", "packages").splitlines()


def _rows(phone: PhoneView, uri: str, where: Mapping[str, str]) -> list[dict[str, str]]:
    rows = phone.rows(uri, *where)
    return [row for row in rows if all(row[name] == value for name, value in where.items())]


def _states_of(phone: PhoneView, title: str) -> set[str]:
    return {row["completed"] for row in _named(phone, TASKS, "title", title, "completed")}


def _named(
    phone: PhoneView, uri: str, column: str, name: str, *further: str
) -> list[dict[str, str]]:
    """Return the rows whose column has the given name; none if several look like it."""
    rows = [row for row in phone.rows(uri, column, *further) if alike([row[column]], name)]
    return rows if len(alike((row[column] for row in rows), name)) == 1 else []


def _number(value: str) -> Decimal | None:
    try:
        return Decimal(value)
    except InvalidOperation:
        return None
