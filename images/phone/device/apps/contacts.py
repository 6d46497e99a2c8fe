"""The Contacts application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from images.phone.device.apps.screen import Screen
from images.phone.device.store.contacts import (
    ContactDraft,
    delete_contact,
    find_contacts,
    load_contact,
    save_contact,
)
from images.phone.device.ui.keyboard import DIGITS, LETTERS
from images.phone.device.ui.metrics import dp
from images.phone.device.ui.view import Align, Flow, Look, View
from images.phone.device.ui.widgets import EDGE_PX, SMALL_PX

if TYPE_CHECKING:
    from images.phone.device.store.database import Row

_CARD = "com.android.contacts.quickcontact.QuickContactActivity"
_EDITOR = "com.android.contacts.activities.ContactEditorActivity"
# Source: CRAB's evaluators use resource IDs with the package's older name.
_OLD = "com.android.contacts"
_FIELDS = (
    ("first_name", "First name"),
    ("last_name", "Last name"),
    ("phone", "Phone"),
    ("email", "Email"),
)


class PeopleScreen(Screen):
    """All contacts, with a search."""

    activity = "com.android.contacts.activities.PeopleActivity"

    def content(self) -> View:
        """Show the search field and the names."""
        search = self.field("open_search_bar", hint="Search contacts")
        search.look.fill, search.look.outline = self.host.theme.surface, None
        search.look.radius_px = dp(28)
        top = self.widgets.column(search, padding_px=(EDGE_PX, dp(12), EDGE_PX, dp(8)))
        wanted = self.field_text("open_search_bar").strip()
        contacts = find_contacts(self.store, wanted)
        rows = [self._row(row) for row in contacts]
        if not rows:
            caption = "No contacts found" if wanted else "No contacts yet"
            text = self.widgets.text(caption, "empty_text", centered=True)
            rows = [self.widgets.column(text, padding_px=(0, dp(160), 0, 0))]
        else:
            count = f"{len(contacts)} contact{'s' if len(contacts) != 1 else ''}"
            rows.insert(0, self.widgets.section(count))
        listed = self.widgets.list_of("list", rows, self.offset("list"), bottom_px=dp(88))
        add = self.widgets.floating_button(
            "Create contact", self.act(self._create), name="floating_action_button"
        )
        body = self.widgets.column(top, listed)
        return View("FrameLayout", children=[body, add], flow=Flow.STACK)

    def back(self) -> bool:
        """Clear the search."""
        if not self.field_text("open_search_bar") and not self.state.get("focus"):
            return False
        self.drop_field("open_search_bar")
        self.focus("")
        return True

    def _create(self) -> None:
        self.open(_EDITOR, {"focus": "first_name"})

    def _row(self, row: Row) -> View:
        view = self.widgets.item(
            row["display_name"],
            names=("cliv_name_textview", ""),
            on_tap=self.act(lambda: self.open(_CARD, contact=row["_id"])),
            trailing=self.widgets.icon("star").sized(dp(24)) if row["starred"] else None,
        )
        view.label = row["display_name"]
        view.children.insert(0, self.widgets.monogram(row["display_name"], dp(40)))
        return view


class ContactScreen(Screen):
    """One contact."""

    activity = _CARD

    def content(self) -> View:
        """Show name, numbers and addresses."""
        draft = load_contact(self.store, int(self.entry.arguments["contact"]))
        back = self.act(self.finish)
        if draft is None:
            gone = self.widgets.text("This contact does not exist any more", centered=True)
            return self.widgets.column(self.widgets.bar("", on_back=back), gone)
        star = self.widgets.icon_button(
            "star" if draft.starred else "star_empty",
            "Remove from favorites" if draft.starred else "Add to favorites",
            self.act(lambda: self._star(not draft.starred)),
            name="menu_star",
        )
        edit = self.widgets.icon_button("edit", "Edit contact", self.act(self._edit, draft))
        delete = self.widgets.icon_button(
            "delete", "Delete contact", self.set(deleting=True), name="menu_delete"
        )
        bar = self.widgets.bar("", on_back=back, actions=(star, edit, delete))
        name = self.widgets.text(
            draft.name, f"{_OLD}:id/large_title", size_px=dp(28), centered=True, lines=3
        )
        photo = View(
            "FrameLayout",
            f"{_OLD}:id/photo_touch_intercept_overlay",
            label=draft.name,
            children=[self.widgets.monogram(draft.name, dp(112))],
            width_px=dp(112),
            height_px=dp(112),
        )
        head = View(
            "LinearLayout",
            children=[photo, name],
            align=Align.CENTER,
            gap_px=dp(16),
            padding_px=(EDGE_PX, dp(8), EDGE_PX, dp(24)),
        )
        return self.widgets.column(bar, head, *self._cards(draft))

    def dialog(self) -> View | None:
        """Ask for confirmation before deleting."""
        if not self.state.get("deleting"):
            return None
        text = self.widgets.text("Delete this contact?", "android:id/message", lines=2)
        buttons = self.widgets.row(
            View(weight=1, is_silent=True),
            self.widgets.button("Cancel", self.act(self.back), name="android:id/button2"),
            self.widgets.button("Delete", self._delete, name="android:id/button1"),
            height_px=dp(56),
        )
        return self.widgets.dialog(text, buttons, on_outside=self.act(self.back))

    def back(self) -> bool:
        """Close the question."""
        return bool(self.state.pop("deleting", False))

    def _cards(self, draft: ContactDraft) -> list[View]:
        rows = [
            self._value(icon, kind, value)
            for icon, kind, value in (
                *(("call", "Phone", value) for value in draft.phones),
                *(("mail", "Email", value) for value in draft.emails),
            )
        ]
        if not rows:
            rows = [self.widgets.item("Add contact info", on_tap=self.act(self._edit, draft))]
        card = self.widgets.column(*rows, padding_px=(0, dp(8), 0, dp(8)))
        card.look = Look(fill=self.host.theme.surface, radius_px=dp(20))
        return [self.widgets.column(card, padding_px=(EDGE_PX, 0, EDGE_PX, 0))]

    def _value(self, icon: str, kind: str, value: str) -> View:
        view = self.widgets.item(
            value,
            summary="Mobile" if kind == "Phone" else "Home",
            icon=icon,
            names=(f"{_OLD}:id/header", "sub_header"),
        )
        view.kind, view.label = "RelativeLayout", f"{kind} {value}"
        return view

    def _star(self, value: bool) -> None:  # noqa: FBT001 - the value to set
        self.store.change(
            "UPDATE contact SET starred=? WHERE _id=?",
            (int(value), self.entry.arguments["contact"]),
        )

    def _edit(self, draft: ContactDraft) -> None:
        first, _, last = draft.name.partition(" ")
        values = {
            "first_name": first,
            "last_name": last,
            "phone": draft.phones[0] if draft.phones else "",
            "email": draft.emails[0] if draft.emails else "",
        }
        fields = {name: {"text": text, "caret": len(text)} for name, text in values.items()}
        state = {"fields": fields, "focus": "first_name"}
        self.open(_EDITOR, state, contact=self.entry.arguments["contact"])

    def _delete(self) -> None:
        delete_contact(self.store, int(self.entry.arguments["contact"]))
        self.toast("Contact deleted")
        self.finish()


class EditorScreen(Screen):
    """A contact's fields."""

    activity = _EDITOR

    def content(self) -> View:
        """Show the fields and the Save button."""
        is_new = "contact" not in self.entry.arguments
        save = self.widgets.button("Save", self._save, name="toolbar_button", filled=True)
        bar = self.widgets.bar(
            "Create contact" if is_new else "Edit contact",
            on_back=self.act(self.finish),
            actions=(save,),
        )
        rows = [self._labelled(name, caption) for name, caption in _FIELDS]
        body = self.widgets.list_of("editors", rows, self.offset("editors"))
        body.gap_px = dp(16)
        body.padding_px = (dp(24), dp(16), dp(24), dp(16))
        return self.widgets.column(bar, body)

    def submit(self, name: str) -> None:
        """Go to the next field, or save from the last one."""
        names = [field for field, _ in _FIELDS]
        place = names.index(name) + 1
        if place < len(names):
            self.focus(names[place])
        else:
            self._save()

    def _labelled(self, name: str, caption: str) -> View:
        text = self.widgets.text(caption, size_px=SMALL_PX, ink=self.host.theme.ink_soft)
        keys = DIGITS if name == "phone" else LETTERS
        field = self.field(name, hint=caption, label=caption, keys=keys)
        return self.widgets.column(text, self.widgets.space(dp(4)), field)

    def _save(self) -> None:
        first, last, phone, email = (self.field_text(name).strip() for name, _ in _FIELDS)
        name = f"{first} {last}".strip() or phone or email
        contact = self.entry.arguments.get("contact")
        if name:
            old = load_contact(self.store, int(contact)) if contact is not None else None
            draft = ContactDraft(
                name,
                _replace_first(old.phones if old else (), phone),
                _replace_first(old.emails if old else (), email),
                starred=bool(old and old.starred),
            )
            saved = save_contact(self.store, draft, int(contact) if contact is not None else None)
            self.toast("Contact saved")
            self.finish()
            if contact is None:
                self.open(_CARD, contact=saved)
        else:
            self.finish()


def _replace_first(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return ((value,) if value else ()) + values[1:]
