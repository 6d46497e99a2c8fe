"""What a phone shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.decorators import evaluator

if TYPE_CHECKING:
    from evaluators.phone.view import PhoneView


@evaluator(on="phone")
def app_in_front(phone: PhoneView, package: str) -> bool:
    """Tell whether an application is in front.

    Args:
        phone: the phone.
        package: the whole package name; ``com.google.android.apps.docs`` is not met by
            ``com.google.android.apps.docs.editors.docs``.
    """
    return phone.front_activity()[0] == package


@evaluator(on="phone")
def ui_text_shown(phone: PhoneView, text: str, package: str, resource_id: str = "") -> bool:
    """Tell whether an application shows an element with exactly this text.

    Args:
        phone: the phone.
        text: the element's whole text or content description.
        package: of the application; the same text in another one does not count.
        resource_id: if given, the element's id, with or without its ``package:id/``.
    """
    return any(
        text in {node.text, node.description}
        and node.package == package
        and resource_id in {"", node.resource_id, node.resource_id.rpartition(":id/")[2]}
        for node in phone.hierarchy()
    )
