"""The screen of a phone: applications and elements.

Elements without a size, or hidden ones, are not shown. An application shows what is typed into it:
where a text must be stored, ask for the stored data, or for the id of the element that shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from evaluators.phone.hierarchy import UiNode
    from evaluators.phone.view import PhoneView

State = Literal["checked", "selected", "focused", "enabled", "scrollable", "password", "clickable"]


@evaluator(on="phone")
def app_in_front(phone: PhoneView, package: str) -> bool:
    """Return whether an application is in front.

    Proves the state, not who made it.

    Args:
        phone: the phone.
        package: the whole package name; ``com.google.android.apps.docs`` is not met by
            ``com.google.android.apps.docs.editors.docs``.

    Example:
        ``{on: phone, check: app_in_front, with: {package: com.android.settings}}``
    """
    return phone.front_activity()[0] == package


@evaluator(on="phone")
def ui_text_shown(phone: PhoneView, text: str, package: str, resource_id: str = "") -> bool:
    """Return whether an application shows an element with exactly this text.

    Proves the state, not who made it.

    Args:
        phone: the phone.
        text: the element's whole text or content description.
        package: of the application; the same text in another one is ignored.
        resource_id: if given, the element's id, with or without its ``package:id/``.

    Example:
        ``{on: phone, check: ui_text_shown, with: {text: Wi-Fi, package: com.android.settings}}``
    """
    return any(
        text in {node.text, node.description}
        and node.package == package
        and resource_id in {"", node.resource_id, node.resource_id.rpartition(":id/")[2]}
        for node in phone.hierarchy()
        if node.is_visible
    )


@evaluator(on="phone")
def activity_in_front(phone: PhoneView, package: str, activity: str) -> bool:
    """Return whether an activity (one screen of an application) is in front.

    Other applications may open it, too. Proves the state, not who made it.

    Args:
        phone: the phone.
        package: the whole package name.
        activity: its class, whole or starting with the dot after the package.

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
    """Return whether an application shows an element with all the given properties.

    Without a text, description or id it is unmet. Proves the state, not who made it.

    Args:
        phone: the phone.
        package: of the application.
        text: the element's whole text.
        description: its whole content description.
        resource_id: its id, with or without its ``package:id/``.
        state: a state that it must have, such as ``selected``.

    Example:
        ``{on: phone, check: ui_element_shown, with: {package: com.android.settings,
        text: Bluetooth, state: enabled}}``
    """
    if not (text or description or resource_id):
        return False
    nodes = phone.nodes(
        resource_id=resource_id,
        text=text or None,
        description=description or None,
        package=package,
    )
    return any(node.is_visible and state in {None, *node.states} for node in nodes)


@evaluator(on="phone")
def ui_element_gone(phone: PhoneView, package: str, text: str) -> bool:
    """Return whether an application is in front and shows no element with this text.

    An application that is not in front, or that shows no elements, is unmet; an element that was
    scrolled off the screen is gone. Proves the state, not who made it.

    Args:
        phone: the phone.
        package: of the application.
        text: whole text or content description of the element.

    Example:
        ``{on: phone, check: ui_element_gone, with: {package: com.android.settings, text: Error}}``
    """
    nodes = [node for node in phone.nodes(package=package) if node.is_visible]
    is_shown = any(text in {node.text, node.description} for node in nodes)
    return bool(nodes) and phone.front_activity()[0] == package and not is_shown


@evaluator(on="phone")
def ui_switch_is(phone: PhoneView, package: str, label: str, on: Literal["on", "off"]) -> bool:
    """Return whether the switch or check box with a label is on or off.

    The switch is the element with that text or description itself, or the only checkable one in
    the nearest enclosing element of the label that has any. Proves the state, not who made it.

    Args:
        phone: the phone.
        package: of the application.
        label: the whole text or description beside the switch.
        on: the expected state.

    Example:
        ``{on: phone, check: ui_switch_is,
        with: {package: com.android.settings, label: Bluetooth, on: "off"}}``
    """
    nodes = [node for node in phone.hierarchy() if node.package == package]
    switches = [
        switch
        for node in nodes
        if label and label in {node.text, node.description} and node.is_visible
        for switch in _switch_of(node, nodes)
    ]
    return len(switches) == 1 and switches[0].is_checked is (on == "on")


def _whole(activity: str, package: str) -> str:
    return f"{package}{activity}" if activity.startswith(".") else activity


def _switch_of(label: UiNode, nodes: list[UiNode]) -> list[UiNode]:
    """Return the checkable elements of the nearest element around a label that has any."""
    parents = {node.index: node.parent for node in nodes}
    box = label.index
    while box in parents:
        switches = [
            node for node in nodes if "checkable" in node.states and _is_in(node, box, parents)
        ]
        if switches:
            return switches
        box = parents[box]
    return []


def _is_in(node: UiNode, box: int, parents: dict[int, int]) -> bool:
    at = node.index
    while at != box and at in parents:
        at = parents[at]
    return at == box
