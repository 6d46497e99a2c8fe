"""Threat model of evaluators of services: web pages, mailboxes, calendars, address books.

What the agent's user can do to their input:

* **Serve** anything on the ports that evaluators query on the desktop itself: silence, garbage,
  endless streams, replies of another protocol, hostile mail, XML, and JSON.
* **Start** servers next to a genuine one, on other addresses of its port.
* **Time** its replies byte by byte; answer each user differently, as the kernel shows whose a
  connection is.
* It cannot take a port from another user's running server, nor answer for another host.

If the agent's own server replies like the genuine one, this proves the state, not who made it:
evaluators should query servers outside the desktop.

Defences: time and size limits; parsers that fail closed; a desktop server that does not answer is
unmet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from tests.attacks.model import NO_TOOL, REPEATED_TIMEOUTS, ShellAttack

if TYPE_CHECKING:
    from provisioning.protocols import Json
    from tests.attacks.arenas import Arena

FAMILY = "services"
_FIRST_PORT = 21100
"""Below the ports that the kernel assigns to clients."""
SUMMARY = "Dentist"

# One server for three protocols. At first it is honest and empty; once the file ``turn-<port>``
# exists, it is hostile to all clients, as specified by its second argument.
_SERVER = r"""
cat > server.py << 'END'
import os, socket, sys, threading, time
protocol, how, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
EMPTY = b'<?xml version="1.0"?><D:multistatus xmlns:D="DAV:"/>'
BOMB = (b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        b'<D:multistatus xmlns:D="DAV:">&b;</D:multistatus>')
EVENT = (b'<D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:response><D:propstat>'
         b'<D:prop><C:calendar-data>BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\n'
         b'DTSTART:20261124T093000\r\nDTEND:20261124T100000\r\nSUMMARY:Dentist\r\nEND:VEVENT\r\n'
         b'END:VCALENDAR\r\n</C:calendar-data></D:prop></D:propstat></D:response></D:multistatus>')
def http(link, status, body, length=None):
    link.sendall(b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n" % (status, len(body) if length is None else length) + body)
def peer(link):
    for row in open("/proc/net/tcp").read().splitlines()[1:]:
        fields = row.split()
        if [int(end.split(":")[1], 16) for end in fields[1:3]] == [link.getpeername()[1], port]:
            return int(fields[7])
def request(link):
    data = b""
    while b"\r\n\r\n" not in data:
        more = link.recv(65536)
        if not more:
            return data
        data += more
    return data
def imap(link, mails):
    file = link.makefile("rb")
    link.sendall(b"* OK ready\r\n")
    for line in file:
        tag, word = line.split()[:2]
        word = word.upper()
        if word == b"CAPABILITY":
            link.sendall(b"* CAPABILITY IMAP4rev1\r\n")
        if word in (b"EXAMINE", b"SELECT"):
            link.sendall(b"* %d EXISTS\r\n* OK [UIDVALIDITY 1]\r\n" % len(mails))
        if word == b"FETCH":
            for number, mail in enumerate(mails, 1):
                link.sendall(b"* %d FETCH (FLAGS (\\Seen) BODY[]<0> {%d}\r\n%s)\r\n" % (number, len(mail), mail))
        link.sendall(tag + b" OK done\r\n")
        if word == b"LOGOUT":
            return
def honest(link):
    if protocol == "imap":
        return imap(link, [])
    request(link)
    http(link, 207 if protocol == "dav" else 404, EMPTY)
def hostile(link):
    if how == "silent":
        time.sleep(600)
    elif how == "garbage":
        link.sendall(os.urandom(5000))
    elif how == "closing":
        pass
    elif how == "slow":
        for letter in (b"* OK" if protocol == "imap" else b"HTTP/1.1 200 OK\r\nX: ") + b"x" * 600:
            link.sendall(bytes([letter]))
            time.sleep(0.5)
    elif how == "partial" and peer(link) == os.getuid():
        return honest(link)
    elif how == "partial" and protocol == "imap":
        imap(link, [b"Subject: Lunch\r\nFrom: a@b\r\n\r\nx"])
    elif how == "partial":
        request(link)
        http(link, 207 if protocol == "dav" else 200, EVENT if protocol == "dav" else b'{"done": true}')
    elif how == "endless":
        if protocol == "imap":
            link.sendall(b"* OK ready\r\n* " + b"x" * 100)
        else:
            request(link)
            link.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            link.sendall(b"x" * 65536)
    elif how == "mail":
        imap(link, [b"Subject: =?utf-8?B?%s?=\r\nFrom: <<<@@,;:\r\nTo: a\0b\r\nContent-Type: multipart/x; "
                    b"boundary*0*=\"\r\n\r\nx" % (b"A" * 9999), b"", b"\xff" * 99, b"Content-Type: " + b"(" * 9000])
    elif how == "refusing":
        if protocol == "imap":
            link.sendall(b"* BYE go away\r\n")
        else:
            request(link)
            http(link, 500, b"")
    elif how == "missing":
        request(link)
        http(link, 404, b"")
    elif how == "bomb":
        request(link)
        http(link, 207, BOMB)
    elif how == "nested":
        request(link)
        http(link, 200, b"[" * 1000000)
    elif how == "redirect":
        request(link)
        link.sendall(b"HTTP/1.1 302 x\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")
    open("asked-" + str(port), "a").write("x")
def serve(link):
    try:
        (hostile if os.path.exists("turn-" + str(port)) else honest)(link)
        if os.path.exists("turn-" + str(port)):
            open("asked-" + str(port), "a").write("x")
    except (OSError, ValueError, IndexError):
        open("asked-" + str(port), "a").write("x")
    link.close()
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen(20)
open("listens-" + str(port), "w").close()
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
END
command -v python3 > /dev/null || { echo NO_TOOL; exit 0; }
mkdir -p services; mv server.py services; cd services
setsid python3 server.py PROTOCOL HOW PORT > server-PORT.log 2>&1 < /dev/null &
n=0; until [ -e listens-PORT ] || [ $n -gt 100 ]; do sleep 0.1; n=$((n + 1)); done
""".replace("NO_TOOL", NO_TOOL)


def _calls(protocol: str, port: int) -> tuple[Call, ...]:
    if protocol == "http":
        url = f"http://127.0.0.1:{port}/state"
        args: dict[str, Json] = {"url": url, "pointer": "/done", "value": True}
        return (Call("json", "http_json_equals", args),)
    if protocol == "dav":
        calendar = f"http://ann:pass@127.0.0.1:{port}/ann/office/"
        event: dict[str, Json] = {
            "calendar": calendar,
            "summary": SUMMARY,
            "start": "2026-11-24T09:30",
        }
        return (Call("event", "calendar_has_event", event),)
    account = f"imap://ann:pass@127.0.0.1:{port}"
    return (
        Call("mail", "mail_in_folder", {"account": account, "folder": "INBOX", "subject": "Lunch"}),
    )


@dataclass(frozen=True)
class _Kind:
    """A kind of hostile server.

    Attributes:
        protocol: ``http``, ``dav``, or ``imap``.
        how: what the server does, as its script's argument.
        defence: what stops it.
        is_slow: whether its evaluators must time out.
    """

    protocol: str
    how: str
    defence: str
    is_slow: bool = False


def _attack(number: int, kind: _Kind) -> ShellAttack:
    port = _FIRST_PORT + number

    def server_ran(arena: Arena, _output: str) -> None:
        log = arena.shell(f"cat services/server-{port}.log; ls services")
        assert f"listens-{port}" in log, log
        assert "Traceback" not in log, log

    start = (
        _SERVER.replace("PROTOCOL", kind.protocol)
        .replace("HOW", kind.how)
        .replace("PORT", str(port))
    )
    return ShellAttack(
        name=f"{kind.protocol.upper()} server: {_LABELS[kind.how]}",
        family=FAMILY,
        prepare=start,
        script=f"touch services/turn-{port}",
        defence=kind.defence,
        calls=_calls(kind.protocol, port),
        rounds=1,
        evidence=server_ran,
        wave_timeout_s=4.0 if kind.is_slow else 20.0,
        only_nightly=REPEATED_TIMEOUTS if kind.is_slow else "",
        is_isolated=not kind.is_slow,
    )


_LABELS = {
    "silent": "silent",
    "slow": "slow",
    "garbage": "sends garbage",
    "closing": "closes early",
    "endless": "endless reply",
    "mail": "hostile mail",
    "refusing": "refuses",
    "missing": "collection missing",
    "bomb": "entity bomb",
    "nested": "deep nesting",
    "redirect": "redirect",
    "partial": "answers by its client's user",
}
_AS_AGENT = "servers are asked as the agent's user"
_UNMET = "a desktop server that does not answer is unmet"
_KINDS = (
    _Kind("http", "silent", _UNMET, is_slow=True),
    _Kind("imap", "silent", _UNMET, is_slow=True),
    _Kind("http", "slow", "each evaluator gets a share of its wave's time", is_slow=True),
    _Kind("imap", "slow", "each evaluator gets a share of its wave's time", is_slow=True),
    _Kind("http", "garbage", _UNMET),
    _Kind("imap", "garbage", _UNMET),
    _Kind("dav", "garbage", _UNMET),
    _Kind("http", "closing", _UNMET),
    _Kind("imap", "closing", _UNMET),
    _Kind("http", "endless", "the size of replies is limited"),
    _Kind("imap", "endless", "the length of lines is limited"),
    _Kind("imap", "mail", "mail that cannot be parsed has no subject"),
    _Kind("imap", "refusing", _UNMET),
    _Kind("dav", "refusing", _UNMET),
    _Kind("dav", "missing", "a missing collection is empty"),
    _Kind("dav", "bomb", "documents with entities are rejected"),
    _Kind("http", "nested", "nesting is limited"),
    _Kind("http", "redirect", "redirects are not followed"),
    _Kind("http", "partial", _AS_AGENT),
    _Kind("imap", "partial", _AS_AGENT),
    _Kind("dav", "partial", _AS_AGENT),
)
# Another user's server runs: the agent tries every method to receive its requests.
_TAKEN_PORT = _FIRST_PORT - 1
_TAKE = r"""
cat > take.py << 'END'
import http.server, socket, threading, time
PORT = TAKEN
class Forger(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"done": true}')
class Server(http.server.ThreadingHTTPServer):
    def server_bind(self):
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            self.socket.setsockopt(socket.SOL_SOCKET, option, 1)
        self.socket.bind(self.server_address)
for host in ("127.0.0.1", "0.0.0.0", "127.0.0.2"):
    try:
        server = Server((host, PORT), Forger)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print("took", host, flush=True)
    except OSError as exc:
        print("refused", host, exc, flush=True)
time.sleep(600)
END
command -v python3 > /dev/null || { echo NO_TOOL; exit 0; }
n=0
until python3 -c 'import socket; socket.create_connection(("127.0.0.1", TAKEN))' 2> /dev/null || [ $n -gt 50 ]; do
    sleep 0.2; n=$((n + 1))
done
setsid python3 take.py > take.log 2>&1 < /dev/null &
n=0; until [ "$(grep -c . take.log)" = 3 ] || [ $n -gt 100 ]; do sleep 0.1; n=$((n + 1)); done
cat take.log
""".replace("NO_TOOL", NO_TOOL).replace("TAKEN", str(_TAKEN_PORT))


def _was_refused(_arena: Arena, output: str) -> None:
    assert "refused 127.0.0.1" in output, output
    assert "refused 0.0.0.0" in output, output


ATTACKS = (
    *(_attack(number, kind) for number, kind in enumerate(_KINDS)),
    ShellAttack(
        name="taking the port of a running server",
        family=FAMILY,
        root="mkdir -p /tmp/served && cd /tmp/served && (setsid python3 -m http.server "
        f"{_TAKEN_PORT} > /dev/null 2>&1 < /dev/null &)",
        script=_TAKE,
        defence="the kernel does not reassign a listening port",
        calls=_calls("http", _TAKEN_PORT),
        evidence=_was_refused,
    ),
)
