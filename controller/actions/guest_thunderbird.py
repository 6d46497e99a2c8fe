"""Runs on a desktop as its user: give Thunderbird the account of a world's person.

Reads an `account` as JSON from standard input. Standard library and the program's own NSS only,
Python 3.9. Passwords are kept as Thunderbird keeps them, encrypted by NSS with the profile's key.
Source: Thunderbird, *prefs.js*; Mozilla, ``logins.json``; NSS, ``PK11SDR_Encrypt``.
"""

from __future__ import annotations

import base64
import configparser
import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

HOME = Path.home() / ".thunderbird"
MAIL, CLOUD = "mail.example", "https://cloud.example"
REALM = "Radicale - Password Required"
CALENDARS = {"work": "#1c71d8", "private": "#2ec27e", "birthdays": "#c061cb"}
_NSS_FOLDERS = (
    "/usr/lib/thunderbird",
    "/usr/lib/thunderbird-esr",
    "/opt/thunderbird",
    "/usr/lib/x86_64-linux-gnu",
)
_NSS_NEEDS = ("libnspr4.so", "libplc4.so", "libplds4.so", "libnssutil3.so", "libmozsqlite3.so")
"""Libraries of the same folder, which its own loader would not find."""
_TLS, _PASSWORD = 3, 3
_CARDDAV = 102
_EVERY_S, _PATIENCE = 0.5, 400


def find_profile() -> Path | None:
    """Return the folder of the profile that Thunderbird opens; None if there is none."""
    read = configparser.ConfigParser(interpolation=None)
    read.read(HOME / "installs.ini")
    for section in read.sections():
        profile = HOME / read[section].get("Default", "")
        if profile != HOME and profile.is_dir():
            return profile
    return None


def make_profile(program: str) -> Path:
    """Let Thunderbird run until it has made the profile that it opens from then on."""
    process = subprocess.Popen(  # noqa: TID251 - runs on a desktop
        [program, "--headless"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(_PATIENCE):
            profile = find_profile()
            if profile is not None and (profile / "prefs.js").exists():
                return profile
            time.sleep(_EVERY_S)  # noqa: TID251 - runs on a desktop
    finally:
        process.terminate()
        process.wait()
    raise RuntimeError("Thunderbird made no profile.")


def is_running(profile: Path) -> bool:
    """Return whether a program has the profile open."""
    try:
        _, _, pid = os.readlink(profile / "lock").partition("+")  # noqa: PTH115 - Python 3.8 has no other
    except OSError:
        return False
    return Path(f"/proc/{pid}").exists()


def make_prefs(email: str, name: str) -> dict[str, Any]:
    """Return the settings of the account."""
    user = f"imap://{quote(email, safe='')}@{MAIL}"
    server, identity, smtp = "mail.server.server1", "mail.identity.id1", "mail.smtpserver.smtp1"
    prefs: dict[str, Any] = {
        "mail.account.account1.identities": "id1",
        "mail.account.account1.server": "server1",
        "mail.account.account2.server": "server2",
        "mail.account.lastKey": 2,
        "mail.accountmanager.accounts": "account1,account2",
        "mail.accountmanager.defaultaccount": "account1",
        "mail.accountmanager.localfoldersserver": "server2",
        f"{server}.type": "imap",
        f"{server}.name": email,
        f"{server}.userName": email,
        f"{server}.hostname": MAIL,
        f"{server}.port": 993,
        f"{server}.socketType": _TLS,
        f"{server}.authMethod": _PASSWORD,
        f"{server}.login_at_startup": True,
        f"{server}.check_new_mail": True,
        f"{server}.check_time": 1,
        f"{server}.trash_folder_name": "Trash",
        "mail.server.server2.type": "none",
        "mail.server.server2.name": "Local Folders",
        "mail.server.server2.userName": "nobody",
        "mail.server.server2.hostname": "Local Folders",
        f"{identity}.fullName": name,
        f"{identity}.useremail": email,
        f"{identity}.valid": True,
        f"{identity}.smtpServer": "smtp1",
        f"{identity}.compose_html": False,
        "mail.smtpservers": "smtp1",
        "mail.smtp.defaultserver": "smtp1",
        f"{smtp}.hostname": MAIL,
        f"{smtp}.port": 465,
        f"{smtp}.try_ssl": _TLS,
        f"{smtp}.authMethod": _PASSWORD,
        f"{smtp}.username": email,
        "ldap_2.servers.world.description": "Contacts",
        "ldap_2.servers.world.dirType": _CARDDAV,
        "ldap_2.servers.world.filename": "world.sqlite",
        "ldap_2.servers.world.uid": str(uuid.uuid4()),
        "ldap_2.servers.world.carddav.url": f"{CLOUD}/dav/{email}/contacts/",
        "ldap_2.servers.world.carddav.username": email,
        "ldap_2.servers.world.carddav.syncinterval": 1,
        "app.donation.eoy.version.viewed": 999,
        "app.normandy.enabled": False,
        "datareporting.policy.dataSubmissionEnabled": False,
        "mail.provider.suppress_dialog_on_startup": True,
        "mail.shell.checkDefaultClient": False,
        "mail.spam.version": 1,
        "mailnews.start_page.enabled": False,
        "mailnews.start_page_override.mstone": "ignore",
    }
    for folder, key in (
        ("Sent", "fcc_folder"),
        ("Drafts", "draft_folder"),
        ("Templates", "stationery_folder"),
        ("Archive", "archive_folder"),
    ):
        prefs[f"{identity}.{key}"] = f"{user}/{folder}"
    order = []
    for calendar, colour in CALENDARS.items():
        key = str(uuid.uuid4())
        order.append(key)
        of = f"calendar.registry.{key}"
        prefs |= {
            f"{of}.type": "caldav",
            f"{of}.name": calendar.capitalize(),
            f"{of}.uri": f"{CLOUD}/dav/{email}/{calendar}/",
            f"{of}.username": email,
            f"{of}.color": colour,
            f"{of}.cache.enabled": True,
            f"{of}.refreshInterval": "1",
            f"{of}.calendar-main-default": calendar == "work",
            f"{of}.calendar-main-in-composite": True,
            f"{of}.imip.identity.key": "id1",
        }
    prefs["calendar.list.sortOrder"] = " ".join(order)
    return prefs


def write_prefs(profile: Path, prefs: dict[str, Any]) -> None:
    """Add settings to a profile; they replace those of the same name."""
    lines = [
        f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in prefs.items()
    ]
    with (profile / "prefs.js").open("a", encoding="utf-8") as file:
        file.write("\n" + "\n".join(lines) + "\n")


class _Item(ctypes.Structure):
    _fields_ = (("type", ctypes.c_uint), ("data", ctypes.c_void_p), ("len", ctypes.c_uint))


class Keys:
    """NSS, with the keys of a profile.

    Args:
        profile: folder of the profile; gets keys if it has none.
    """

    def __init__(self, profile: Path) -> None:
        folder = next(name for name in _NSS_FOLDERS if Path(name, "libnss3.so").exists())
        for name in _NSS_NEEDS:
            if Path(folder, name).exists():
                ctypes.CDLL(f"{folder}/{name}", mode=ctypes.RTLD_GLOBAL)
        self._nss = ctypes.CDLL(f"{folder}/libnss3.so", mode=ctypes.RTLD_GLOBAL)
        self._nss.PK11_GetInternalKeySlot.restype = ctypes.c_void_p
        self._require(self._nss.NSS_InitReadWrite(f"sql:{profile}".encode()), "NSS_InitReadWrite")
        slot = ctypes.c_void_p(self._nss.PK11_GetInternalKeySlot())
        if self._nss.PK11_NeedUserInit(slot):
            self._require(self._nss.PK11_InitPin(slot, None, b""), "PK11_InitPin")
        self._require(self._nss.PK11_Authenticate(slot, 1, None), "PK11_Authenticate")
        self._nss.PK11_FreeSlot(slot)

    def encrypt(self, text: str) -> str:
        """Return a text encrypted with the profile's key, in Base64."""
        data = text.encode()
        plain = _Item(0, ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))
        key, made = _Item(0, None, 0), _Item(0, None, 0)
        status = self._nss.PK11SDR_Encrypt(
            ctypes.byref(key), ctypes.byref(plain), ctypes.byref(made), None
        )
        self._require(status, "PK11SDR_Encrypt")
        return base64.b64encode(ctypes.string_at(made.data, made.len)).decode()

    def close(self) -> None:
        """Write the keys."""
        self._require(self._nss.NSS_Shutdown(), "NSS_Shutdown")

    @staticmethod
    def _require(status: int, name: str) -> None:
        if status != 0:
            raise RuntimeError(f"{name} failed.")


def write_logins(profile: Path, email: str, password: str) -> None:
    """Let the profile know the password of all servers."""
    now_ms = int(time.time() * 1000)  # noqa: TID251 - runs on a desktop
    places = [(f"{kind}://{MAIL}", f"{kind}://{MAIL}") for kind in ("imap", "smtp")]
    keys = Keys(profile)
    logins = [
        {
            "id": number,
            "hostname": origin,
            "httpRealm": realm,
            "formSubmitURL": None,
            "usernameField": "",
            "passwordField": "",
            "encryptedUsername": keys.encrypt(email),
            "encryptedPassword": keys.encrypt(password),
            "guid": f"{{{uuid.uuid4()}}}",
            "encType": 1,
            "timeCreated": now_ms,
            "timeLastUsed": now_ms,
            "timePasswordChanged": now_ms,
            "timesUsed": 1,
        }
        for number, (origin, realm) in enumerate([*places, (CLOUD, REALM)], start=1)
    ]
    keys.close()
    content = {"nextId": len(logins) + 1, "logins": logins, "version": 3}
    (profile / "logins.json").write_text(json.dumps(content))
    (profile / "logins.json").chmod(0o600)


def main() -> None:
    """Sign in, or say why that is impossible."""
    account = json.load(sys.stdin)
    email, name = account["email"], account["name"]
    program = shutil.which("thunderbird")
    if program is None:
        sys.exit("Thunderbird is not installed.")
    profile = find_profile() or make_profile(program)
    if is_running(profile):
        sys.exit("Thunderbird runs already.")
    write_prefs(profile, make_prefs(email, name))
    write_logins(profile, email, account["password"])


if __name__ == "__main__":
    main()
