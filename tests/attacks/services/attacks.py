"""Threat model of evaluators of services: web pages, mailboxes, calendars, address books.

What the agent's user can do to what they read:

* **Serve** anything on the ports that evaluators ask on the desktop itself: silence, garbage, streams
  without end, replies of another protocol, hostile mail, XML and JSON.
* **Start** servers beside a right one, on other addresses of its port.
* **Time** its replies byte by byte.
* It cannot take a port from a running server of somebody else, nor answer for another host.

A server of the agent's own that replies as the right one would proves the state, not who made it: let
evaluators ask servers outside the desktop. What stands against
it: bounds on time and size, parsers that fail closed; a server of the desktop's own that does not
answer is unmet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from tests.attacks.model import NO_TOOL, WAITS, ShellAttack

if TYPE_CHECKING:
    from provisioning.protocols import Json
    from tests.attacks.arenas import Arena

FAMILY = "services"
_FIRST_PORT = 21100
"""Below the ports that the kernel gives to clients."""
SUMMARY = "Dentist"

# One server for three protocols. It starts out honest and empty, and turns when the file ``turn`` is
# there: then it does to whoever connects what its second argument says.
_SERVER = r"""
cat > server.py << 'END'
import os, socket, sys, threading, time
protocol, how, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
EMPTY = b'<?xml version="1.0"?><D:multistatus xmlns:D="DAV:"/>'
BOMB = (b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        b'<D:multistatus xmlns:D="DAV:">&b;</D:multistatus>')
def http(link, status, body, length=None):
    link.sendall(b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n\r\n" % (status, len(body) if length is None else length) + body)
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


def _attack(
    number: int, protocol: str, how: str, defence: str, *, is_slow: bool = False
) -> ShellAttack:
    port = _FIRST_PORT + number

    def was_asked(arena: Arena, _output: str) -> None:
        log = arena.shell(f"cat services/server-{port}.log; ls services")
        assert f"listens-{port}" in log, log
        assert "Traceback" not in log, log

    start = _SERVER.replace("PROTOCOL", protocol).replace("HOW", how).replace("PORT", str(port))
    return ShellAttack(
        name=f"a server of {protocol} that is {how}",
        family=FAMILY,
        prepare=start,
        script=f"touch services/turn-{port}",
        defence=defence,
        calls=_calls(protocol, port),
        rounds=1,
        evidence=was_asked,
        wave_timeout_s=4.0 if is_slow else 20.0,
        only_nightly=WAITS if is_slow else "",
        is_apart=not is_slow,
    )


_UNMET = "a server of the desktop's own that does not answer is unmet"
_KINDS = (
    ("http", "silent", _UNMET, True),
    ("imap", "silent", _UNMET, True),
    ("http", "slow", "an evaluator has a share of its wave's time", True),
    ("imap", "slow", "an evaluator has a share of its wave's time", True),
    ("http", "garbage", _UNMET, False),
    ("imap", "garbage", _UNMET, False),
    ("dav", "garbage", _UNMET, False),
    ("http", "closing", _UNMET, False),
    ("imap", "closing", _UNMET, False),
    ("http", "endless", "replies are bounded", False),
    ("imap", "endless", "lines are bounded", False),
    ("imap", "mail", "mail that cannot be parsed has no subject", False),
    ("imap", "refusing", _UNMET, False),
    ("dav", "refusing", _UNMET, False),
    ("dav", "missing", "a collection that is not there holds nothing", False),
    ("dav", "bomb", "documents with entities are refused", False),
    ("http", "nested", "nesting is bounded", False),
    ("http", "redirect", "no redirect is followed", False),
)
# A server of somebody else's is there: the agent tries each way to be asked in its place.
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
    *(
        _attack(number, protocol, how, defence, is_slow=is_slow)
        for number, (protocol, how, defence, is_slow) in enumerate(_KINDS)
    ),
    ShellAttack(
        name="taking the port of a running server",
        family=FAMILY,
        root="mkdir -p /tmp/served && cd /tmp/served && (setsid python3 -m http.server "
        f"{_TAKEN_PORT} > /dev/null 2>&1 < /dev/null &)",
        script=_TAKE,
        defence="the kernel gives a port that listens to nobody else",
        calls=_calls("http", _TAKEN_PORT),
        evidence=_was_refused,
    ),
)
