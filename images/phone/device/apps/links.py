"""Resolve intents with URIs to activities.

Source: Android's *Common intents*: ``tel:``, ``smsto:``, ``mailto:``, ``geo:``, ``http:``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote

from images.phone.device.apps.directory import (
    APPS,
    BROWSER,
    CAMERA,
    CLOCK,
    CONTACTS,
    DIALER,
    MAIL,
    MAPS,
    MESSAGES,
)
from images.phone.device.apps.stack import Entry
from images.phone.device.store.places import find_places

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Found = tuple[str, Entry]

CALL_ACTIVITY = "com.android.incallui.InCallActivity"
COMPOSE = "com.google.android.gm.ComposeActivityGmail"
CONVERSATION = "com.google.android.apps.messaging.ui.conversation.ConversationActivity"
CONTACT_EDITOR = "com.android.contacts.activities.ContactEditorActivity"
# Degrees north and east, as in geo:46.95,7.44; and the width of the map in degrees.
_SPOT = re.compile(r"(-?\d{1,3}(?:\.\d{1,15})?),(-?\d{1,3}(?:\.\d{1,15})?)", re.ASCII)
_MAX_LATITUDE, _MAX_LONGITUDE, _SPOT_SPAN = 80.0, 180.0, 4.0
_CAPTURE = frozenset(
    ("android.media.action.IMAGE_CAPTURE", "android.media.action.STILL_IMAGE_CAMERA")
)
_CLOCK_TABS = {
    "android.intent.action.SET_ALARM": "alarms",
    "android.intent.action.SET_TIMER": "timers",
    "android.intent.action.SHOW_ALARMS": "alarms",
    "android.intent.action.SHOW_TIMERS": "timers",
}
_VIEWS = frozenset(
    f"android.intent.action.{name}" for name in ("VIEW", "SENDTO", "DIAL", "CALL", "SEND")
)


def fields_of(values: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """Return the state of text fields with the given content."""
    return {name: {"text": text, "caret": len(text)} for name, text in values.items()}


def find_target(action: str, uri: str, extras: Mapping[str, str]) -> tuple[str, Entry] | None:
    """Return package and activity for an intent; None if no application handles it.

    Args:
        action: such as ``android.intent.action.VIEW``.
        uri: may be empty.
        extras: text values of the intent.
    """
    if action in _CAPTURE:
        return CAMERA, Entry(APPS[CAMERA].main)
    if action == "android.intent.action.INSERT" and "contact" in uri:
        return CONTACTS, _new_contact(extras)
    if action in _CLOCK_TABS:
        return CLOCK, Entry(APPS[CLOCK].main, {}, {"tab": _CLOCK_TABS[action]})
    if action not in _VIEWS:
        return None
    scheme, _, rest = uri.partition(":")
    maker = _SCHEMES.get(scheme.lower())
    return maker(rest, uri, extras) if maker else None


def _new_contact(extras: Mapping[str, str]) -> Entry:
    first, _, last = extras.get("name", "").partition(" ")
    values = {
        "first_name": first,
        "last_name": last,
        "phone": extras.get("phone", ""),
        "email": extras.get("email", ""),
    }
    return Entry(CONTACT_EDITOR, {}, {"fields": fields_of(values), "focus": "first_name"})


def _dial(rest: str, uri: str, extras: Mapping[str, str]) -> Found:
    del uri, extras
    state = {"tab": "dialpad", "digits": unquote(rest)}
    return DIALER, Entry(APPS[DIALER].main, {}, state)


def _message(rest: str, uri: str, extras: Mapping[str, str]) -> Found:
    del uri
    address, _, query = rest.partition("?")
    body = extras.get("sms_body") or parse_qs(query).get("body", [""])[0]
    state = {"fields": fields_of({"compose_message_text": body})}
    return MESSAGES, Entry(CONVERSATION, {"address": unquote(address).lstrip("/")}, state)


def _mail(rest: str, uri: str, extras: Mapping[str, str]) -> Found:
    del uri
    address, _, query = rest.partition("?")
    asked = parse_qs(query)
    values = {
        "subject": extras.get("android.intent.extra.SUBJECT") or asked.get("subject", [""])[0],
        "body": extras.get("android.intent.extra.TEXT") or asked.get("body", [""])[0],
    }
    chips = [unquote(address)] if address else []
    return MAIL, Entry(COMPOSE, {}, {"fields": fields_of(values), "chips": chips})


def _map(rest: str, uri: str, extras: Mapping[str, str]) -> Found:
    del uri, extras
    place, _, query = rest.partition("?")
    query = parse_qs(query).get("q", [""])[0].strip()
    state: dict[str, object] = {
        "fields": fields_of({"search_omnibox_edit_text": query}),
        "query": query,
    }
    places = find_places(query) if query else []
    if places and (len(places) == 1 or query in {places[0].name, places[0].title}):
        state.update(place=places[0].title, query=places[0].title)
    elif spot := _SPOT.fullmatch(place):
        latitude, longitude = float(spot[1]), float(spot[2])
        if not query and abs(latitude) <= _MAX_LATITUDE and abs(longitude) <= _MAX_LONGITUDE:
            state["window"] = [longitude, latitude, _SPOT_SPAN]
    return MAPS, Entry(APPS[MAPS].main, {}, state)


def _browse(rest: str, uri: str, extras: Mapping[str, str]) -> Found:
    del rest, extras
    return BROWSER, Entry(APPS[BROWSER].main, {"url": uri})


_SCHEMES: dict[str, Callable[[str, str, Mapping[str, str]], Found]] = {
    "tel": _dial,
    "sms": _message,
    "smsto": _message,
    "mailto": _mail,
    "geo": _map,
    "http": _browse,
    "https": _browse,
}
