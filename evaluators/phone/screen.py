"""Evaluators of a phone's screen: applications and elements.

Hidden elements and those without a size do not count as shown, and texts are compared without
invisible characters. An application shows text that is
typed into it: if a text must be stored, check the stored data, or specify the id of the element
that shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evaluators.decorators import evaluator
from evaluators.desktop.visible import look_of
from evaluators.phone.switches import switches_of

if TYPE_CHECKING:
    from evaluators.phone.hierarchy import UiNode
    from evaluators.phone.view import PhoneView

State = Literal["checked", "selected", "focused", "enabled", "scrollable", "password", "clickable"]


@evaluator(on="phone")
def app_in_front(phone: PhoneView, package: str) -> bool:
    """Return whether an application is in front.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        package: the complete package name; ``com.google.android.apps.docs.editors.docs`` does not
            match ``com.google.android.apps.docs``.

    Example:
        ``{on: phone, check: app_in_front, with: {package: com.android.settings}}``
    """
    return phone.front_activity()[0] == package


@evaluator(on="phone")
def ui_text_shown(phone: PhoneView, text: str, package: str, resource_id: str = "") -> bool:
    """Return whether an application shows an element with the given text.

    Proves the state, not who caused it.

    Args:
        phone: the phone.
        text: the element's complete text or content description.
        package: package name of the application; the same text in another one is ignored.
        resource_id: the element's id, with or without its ``package:id/``; empty matches any.

    Example:
        ``{on: phone, check: ui_text_shown, with: {text: Wi-Fi, package: com.android.settings}}``
    """
    return any(
        _reads(node, text)
        and node.package == package
        and resource_id in {"", node.resource_id, node.resource_id.rpartition(":id/")[2]}
        for node in phone.hierarchy()
        if node.is_visible
    )


@evaluator(on="phone")
def activity_in_front(phone: PhoneView, package: str, activity: str) -> bool:
    """Return whether an activity (one screen of an application) is in front.

    Other applications may also open it. Proves the state, not who caused it.

    Args:
        phone: the phone.
        package: the complete package name.
        activity: its class name, complete or starting with the dot after the package.

    Example:
        ``{on: phone, check: activity_in_front,
        with: {package: com.android.settings, activity: .wifi.WifiSettings}}``
    """
    seen_package, seen = phone.front_activity()
    return (
        seen_package == package
        and bool(seen)
        and _whole(seen, package) == _whole(activity, package)
    )


@evaluator(on="phone")
def ui_element_shown(
    phone: PhoneView,
    package: str,
    *,
    text: str = "",
    description: str = "",
    resource_id: str = "",
    state: State | None = None,
) -> bool:
    """Return whether an application shows an element with all of the given properties.

    The check is unmet if no text, description or id is given. Proves the state, not who caused it.

    Args:
        phone: the phone.
        package: package name of the application.
        text: the element's complete text.
        description: its complete content description.
        resource_id: its id, with or without its ``package:id/``.
        state: a state that it must have, such as ``selected``.

    Example:
        ``{on: phone, check: ui_element_shown, with: {package: com.android.settings,
        text: Bluetooth, state: enabled}}``
    """
    if not (text or description or resource_id):
        return False
    return any(
        node.is_visible
        and state in {None, *node.states}
        and (not text or look_of(node.text) == look_of(text))
        and (not description or look_of(node.description) == look_of(description))
        for node in phone.nodes(resource_id=resource_id, package=package)
    )


@evaluator(on="phone")
def ui_element_gone(phone: PhoneView, package: str, text: str) -> bool:
    """Return whether an application is in front and does not show an element with the given text.

    An application that is not in front, or that shows no elements, is unmet; an element that was
    scrolled off the screen counts as not shown. Proves the state, not who caused it.

    Args:
        phone: the phone.
        package: package name of the application.
        text: complete text or content description of the element.

    Example:
        ``{on: phone, check: ui_element_gone, with: {package: com.android.settings, text: Error}}``
    """
    nodes = [node for node in phone.nodes(package=package) if node.is_visible]
    is_shown = any(_reads(node, text) for node in nodes)
    return bool(nodes) and phone.front_activity()[0] == package and not is_shown


@evaluator(on="phone")
def ui_switch_is(phone: PhoneView, package: str, label: str, on: Literal["on", "off"]) -> bool:
    """Return whether the switch or check box with the given label is on, or off.

    The switch is the element with this text or description itself, or the one that encloses it, or
    the only checkable element of the label's row: of the nearest element that encloses both, if no
    other text is nearer to the switch. A switch with a text or description of its own, other than
    *On* and *Off*, has no other label, unless its own contains the label. Proves the state, not who
    caused it.

    Args:
        phone: the phone.
        package: package name of the application.
        label: the complete text or description next to the switch.
        on: the expected state.

    Example:
        ``{on: phone, check: ui_switch_is,
        with: {package: com.android.settings, label: Bluetooth, on: "off"}}``
    """
    switches = switches_of([node for node in phone.hierarchy() if node.package == package], label)
    return len(switches) == 1 and switches[0].is_checked is (on == "on")


def _reads(node: UiNode, text: str) -> bool:
    """Return whether an element has a text or description, invisible characters aside."""
    return look_of(text) in {look_of(node.text), look_of(node.description)}


def _whole(activity: str, package: str) -> str:
    return f"{package}{activity}" if activity.startswith(".") else activity
