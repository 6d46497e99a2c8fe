"""The whole state of a world that is filled with a persona."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provisioning.world.state.accounts import account_files
from provisioning.world.state.archive import StateFile, pack
from provisioning.world.state.collections import collection_files
from provisioning.world.state.mailbox import mailbox_files, mailbox_folders
from provisioning.world.state.shop import shop_files
from provisioning.world.state.sites import site_files

if TYPE_CHECKING:
    from provisioning.world.persona.persona import Persona

FILES = "files"
"""Folder of the person's documents in the state."""
OUTSIDE = "outside"
"""Folder of the mails that left the world: those to anybody but the person."""


def fill_state(persona: Persona) -> bytes:
    """Return the state of a world, as a tar."""
    documents = [
        StateFile(f"{FILES}/{file.path}", file.text.encode(), int(file.modified.timestamp()))
        for file in persona.files
    ]
    files = [
        *account_files(persona),
        *mailbox_files(persona),
        *collection_files(persona),
        *shop_files(persona),
        *site_files(persona),
        *documents,
    ]
    folders = [*mailbox_folders(), *(f"{OUTSIDE}/{part}" for part in ("cur", "new", "tmp")), "home"]
    return pack(files, folders)
