"""Runs on a machine, as an agent's program: look at its world, leave marks in it, or wreck it.

Called with what to do, address and password. Standard library only. All names lead to the machine
itself, as they do on phones, which have no name server.
"""

from __future__ import annotations

import hashlib
import http.cookiejar
import imaplib
import json
import re
import smtplib
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

MAIL, SHOP, CODE, PICTURES, CLOUD = (
    f"http://{name}.example" for name in ("mail", "shop", "code", "pictures", "cloud")
)
SITES = (MAIL, SHOP, CODE, PICTURES)
MARK = "Mark of a trial"
HELD_S = 8.0
"""How long a trial waits with its marks, so that trials at once would see each other's."""


class Guest:
    """The person's programs.

    Args:
        email: address of the account.
        password: its password.
    """

    def __init__(self, email: str, password: str) -> None:
        self.email, self.password = email, password
        self._jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        keeper = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        keeper.add_password(None, CLOUD, email, password)
        basic = urllib.request.HTTPBasicAuthHandler(keeper)
        proxy = urllib.request.ProxyHandler({})
        self._opener = urllib.request.build_opener(proxy, self._jar, basic)
        for site in SITES:
            self.ask(f"{site}/sign-in", email=email, password=password, after="/")

    def ask(self, url: str, method: str = "", body: bytes | None = None, **form: str) -> str:
        """Return a page; a form is sent by POST. A refusal is its status."""
        data = urllib.parse.urlencode(form).encode() if form else body
        request = urllib.request.Request(url, data, method=method or None)  # noqa: S310 - http
        try:
            with self._opener.open(request, timeout=60) as answer:
                return str(answer.read().decode(errors="replace"))
        except urllib.error.HTTPError as exc:
            return str(exc.code)

    def imap(self) -> imaplib.IMAP4:
        """Return a connection to the inbox."""
        server = imaplib.IMAP4("mail.example", timeout=60)
        server.login(self.email, self.password)
        server.select("INBOX")
        return server

    def first(self, url: str, pattern: str) -> str:
        """Return what a pattern finds first in a page."""
        return str(re.findall(pattern, self.ask(url))[0])

    def look(self) -> dict[str, object]:
        """Return a digest of what each server shows that can be changed, and how many marks it has."""
        with self.imap() as server:
            mails = server.search(None, "ALL")[1][0].decode()
            marks = len(server.search(None, f'SUBJECT "{MARK}"')[1][0].split())
        pages = {
            "mails": mails,
            "orders": self.ask(f"{SHOP}/orders"),
            "stars": self.ask(f"{CODE}{self.repository()}"),
            "issues": self.ask(f"{CODE}{self.repository()}/issues"),
            "favourites": self.ask(f"{PICTURES}/search?favourites=1"),
            "files": self.ask(f"{CLOUD}/files/"),
            "work": self.ask(f"{CLOUD}/dav/{self.email}/work/"),
            "book": self.ask(f"{CLOUD}/dav/{self.email}/contacts/"),
        }
        names = (MARK, MARK.replace(" ", "-") + ".txt</a>")
        return {
            "digests": {
                name: hashlib.sha256(page.encode()).hexdigest()[:12] for name, page in pages.items()
            },
            "marks": {
                name: marks if name == "mails" else sum(page.count(mark) for mark in names)
                for name, page in pages.items()
            },
            "mails": len(mails.split()),
            "orders": len(set(re.findall(r"/orders/([\w-]+)", pages["orders"]))),
            "favourites": len(set(re.findall(r"/photo/([^\"]+)", pages["favourites"]))),
        }

    def repository(self) -> str:
        """Return the path of a repository."""
        return "/" + self.first(CODE, r'href="/([\w.-]+/[\w.-]+)"')

    def mark(self) -> None:
        """Change something on each site."""
        with smtplib.SMTP("mail.example", 587, timeout=60) as server:
            server.login(self.email, self.password)
            server.sendmail(self.email, [self.email], f"Subject: {MARK}\n\nHello")
        number = self.first(SHOP, r'href="/product/([\w-]+)"')
        self.ask(f"{SHOP}/cart/add", number=number, quantity="1")
        self.ask(f"{SHOP}/checkout", method="POST", body=b"")
        self.ask(f"{CODE}{self.repository()}/star", method="POST", body=b"")
        self.ask(f"{CODE}{self.repository()}/issues", title=MARK, text="Hello")
        photo = self.first(f"{PICTURES}/search", r'href="(/photo/[^"]+)"')
        self.ask(f"{PICTURES}{photo}", method="POST", body=b"")
        event = {"title": MARK, "day": "2026-12-03", "start": "09:30", "end": "10:15"}
        page = urllib.parse.urlencode({**event, "place": "Here", "calendar": "work"})
        self.ask(f"{MAIL}/calendar/new", body=page.encode())
        card = f"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:mark\r\nFN:{MARK}\r\nEND:VCARD\r\n"
        book = f"{CLOUD}/dav/{self.email}/contacts/mark.vcf"
        self.ask(book, method="PUT", body=card.encode())
        self.ask(f"{CLOUD}/files/{MARK.replace(' ', '-')}.txt", method="PUT", body=b"Hello")

    def wreck(self) -> dict[str, object]:
        """Delete every mail, the files and a calendar, change the password, and fill the disk.

        Returns:
            what is left.
        """
        with self.imap() as server:
            server.store("1:*", "+FLAGS", "\\Deleted")
            server.expunge()
            left = server.search(None, "ALL")[1][0].split()
        folders = [f"{CLOUD}/files/Documents/", f"{CLOUD}/dav/{self.email}/work/"]
        for folder in folders:
            self.ask(folder, method="DELETE")
        self.ask(f"{MAIL}/account", old=self.password, new="another password")
        refused = self.ask(folders[0], method="PROPFIND")
        keeper = Guest(self.email, "another password")
        statuses = []
        for size in (15_000_000, 500_000, 20_000):
            for number in range(60):
                url = f"{CLOUD}/files/{size}-{number}.bin"
                statuses.append(keeper.ask(url, method="PUT", body=b"x" * size))
                if statuses[-1] in {"500", "507"}:
                    break
        gone = [keeper.ask(folder, method="PROPFIND") for folder in folders]
        return {"mails": len(left), "refused": refused, "gone": gone, "full": statuses[-1]}


def main(work: str, email: str, password: str) -> None:
    """Do what is asked, and print what was found before and after as JSON."""
    find = socket.getaddrinfo
    socket.getaddrinfo = lambda _host, *more, **named: find("127.0.0.1", *more, **named)
    guest = Guest(email, password)
    found = {"before": guest.look()}
    if work == "mark":
        guest.mark()
        time.sleep(HELD_S)  # noqa: TID251 - runs on a machine
        found["after"] = guest.look()
    elif work == "wreck":
        guest.mark()
        found["after"] = guest.wreck()
    print(json.dumps(found))  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main(*sys.argv[1:])
