"""Evaluators of a phone's notifications and toasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator
from evaluators.desktop.visible import look_of

if TYPE_CHECKING:
    from evaluators.phone.view import PhoneView


@evaluator(on="phone")
def notification_posted(phone: PhoneView, package: str, title: str, text: str = "") -> bool:
    """Return whether a notification of an application is posted and not dismissed.

    Text in a notification may imitate a notification of another application. Therefore, since
    Android 11, the number of notifications of the application must match the number of keys that
    the phone lists for it. Proves the state, not who caused it.

    Args:
        phone: the phone.
        package: package name of the application that posted it.
        title: its complete title; surrounding white space and invisible characters are ignored.
        text: its complete text; empty matches any.

    Example:
        ``{on: phone, check: notification_posted,
        with: {package: com.google.android.deskclock, title: Alarm}}``
    """
    return any(
        notification.package == package
        and look_of(notification.title).strip() == look_of(title).strip()
        and text.strip() in {"", notification.text.strip()}
        for notification in phone.notifications()
    )


@evaluator(on="phone")
def notifications_cleared(phone: PhoneView, package: str) -> bool:
    """Return whether an application has no posted notification.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        package: package name of the application, which must be installed.

    Example:
        ``{on: phone, check: notifications_cleared, with: {package: com.google.android.gm}}``
    """
    installed = phone.read("pm", "list", "packages").split()
    is_there = f"package:{package}" in installed
    has_key = package in (phone.notifying_packages() or ())
    return (
        is_there
        and not has_key
        and all(notification.package != package for notification in phone.notifications())
    )


@evaluator(on="phone")
def toast_shown(phone: PhoneView, text: str, package: str = "") -> bool:
    """Return whether the last toast showed exactly this text.

    Android does not keep toasts, so on real phones only a toast that is still shown counts. Any
    application can show any toast, so specify the package. Proves the state, not who caused it.

    Args:
        phone: the phone.
        text: its complete text, not empty; surrounding white space is ignored.
        package: package name of the application that showed it; empty matches any.

    Example:
        ``{on: phone, check: toast_shown, with: {text: Contact saved}}``
    """
    last = phone.last_toast()
    return (
        last is not None
        and last.text.strip() == text.strip() != ""
        and package in {"", last.package}
    )
