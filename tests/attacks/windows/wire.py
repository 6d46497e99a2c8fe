"""A minimal X client without a library, and a script that starts a genuine program."""

from __future__ import annotations

from tests.attacks.model import NO_TOOL

# A minimal X client without a library: a connection, and the requests that the attacks need.
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

# Starts a genuine program, a simple one that each desktop has, with its own title.
GENUINE = """
start_right() {
    for name in gnome-calculator zenity; do command -v $name > /dev/null && break; done
    case $name in
        zenity) zenity --calendar --title Before;;
        *) $name;;
    esac > /dev/null 2>&1 &
    n=0
    until [ -n "$(xdotool search --onlyvisible --class $name)" ] || [ $n -gt 150 ]; do
        sleep 0.2
        n=$((n + 1))
    done 2> /dev/null
    sleep 0.3
}
command -v python3 > /dev/null && command -v xdotool > /dev/null || { echo NO_TOOL; exit 0; }
""".replace("NO_TOOL", NO_TOOL)
