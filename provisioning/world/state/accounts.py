"""The account of a persona, as each server reads it."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from provisioning.world.state.archive import StateFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from provisioning.world.persona.persona import Persona


def account_files(persona: Persona) -> Iterator[StateFile]:
    """Return who may sign in with which password, and which mail is the person's.

    Apache reads no plain passwords, and the other servers read no others.
    """
    email, password = persona.person.email, persona.person.password
    local_part, _, domain = email.partition("@")
    digest = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
    texts = {
        "accounts": f"{email}:{password}",
        "web-accounts": f"{email}:{{SHA}}{base64.b64encode(digest).decode()}",
        "domains": domain,
        "local-parts": local_part,
    }
    now_s = int(persona.now.timestamp())
    for name, text in texts.items():
        yield StateFile(name, f"{text}\n".encode(), now_s)
