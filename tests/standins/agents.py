"""Programs of registered agents, which log their observations in their containers."""

PROBER = """
import glob, json, os, socket, subprocess, sys

def attempt(call):
    try:
        call()
    except BaseException as exc:
        return type(exc).__name__
    return "done"

def hog():
    blocks = [bytearray(1 << 20) for _ in range(512)]

def fork_many():
    children = []
    try:
        for _ in range(64):
            children.append(subprocess.Popen(["sleep", "30"]))
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.wait()  # One that is not yet reaped still counts as a process.

with open("/proc/self/status") as status:
    caps = [line.split()[1] for line in status if line.startswith(("CapEff", "CapBnd"))]
found = {
    "network": attempt(lambda: socket.create_connection(("192.0.2.1", 80), 2)),
    "interfaces": sorted(os.listdir("/sys/class/net")),
    "write_own": attempt(lambda: open("/agent/x", "w")),
    "write_root": attempt(lambda: open("/x", "w")),
    "write_tmp": attempt(lambda: open("/tmp/x", "w").close()),
    "forks": attempt(fork_many),
    "caps": caps,
    "uid": os.getuid(),
    "socket": os.path.exists("/var/run/docker.sock"),
    "solutions": glob.glob("/opt/mesocosm/src/*"),
    "state": os.path.exists("/var/lib/mesocosm"),
    "given": os.environ.get("GREETING"),
    "keys": [name for name in os.environ if "KEY" in name],
}
child = subprocess.run([sys.executable, "-c", "x = [bytearray(1 << 20) for _ in range(512)]"])
found["hog"] = child.returncode
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "log", "found": found}), flush=True)
    elif message["type"] == "observation":
        print(json.dumps({"actions": [{"do": "complete"}]}), flush=True)
"""
ASKER = """
import glob, json, os, socket, struct, sys, urllib.error, urllib.request

def attempt(call):
    try:
        return call()
    except urllib.error.HTTPError as exc:
        return exc.code
    except BaseException as exc:
        return type(exc).__name__

def connect(host, port):
    return lambda: socket.create_connection((host, port), 2).close()

def ask(path, **body):
    url = os.environ["MESOCOSM_MODEL_BASE_URL"] + path
    headers = {"Content-Type": "application/json", "Authorization": "Bearer mine"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    return lambda: json.load(urllib.request.urlopen(request, timeout=20))

def resolve():
    return socket.getaddrinfo("example.org", 80)

def ask_resolver():
    query = struct.pack(">6H", 7, 256, 1, 0, 0, 0) + bytes([7]) + b"example" + bytes([3]) + b"org"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(query + struct.pack(">BHH", 0, 1, 1), ("8.8.8.8", 53))

port = int(sys.argv[1])
asked = {"model": os.environ["MESOCOSM_MODEL_NAME"], "messages": [{"role": "user", "content": "hi"}]}
found = {
    "answer": attempt(ask("/chat/completions", **asked)),
    "other_model": attempt(ask("/chat/completions", **{**asked, "model": "dearer"})),
    "other_path": attempt(ask("/files", **asked)),
    "interfaces": sorted(os.listdir("/sys/class/net")),
    "routes": open("/proc/net/route").read().splitlines()[1:],
    "endpoint": attempt(connect("127.0.0.1", port)),
    "gateway": attempt(connect("172.17.0.1", port)),
    "ssh": attempt(connect("172.17.0.1", 22)),
    "metadata": attempt(connect("169.254.169.254", 80)),
    "internet": attempt(connect("192.0.2.1", 443)),
    "ipv6": attempt(connect("2001:db8::1", 443)),
    "name": attempt(resolve),
    "resolver": attempt(ask_resolver),
    "openai": [os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]],
    "secrets": [name for name, value in os.environ.items() if "secret" in value],
    "sockets": glob.glob("/run/*.sock") + glob.glob("/var/run/*.sock"),
}
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "log", "found": found}), flush=True)
    elif message["type"] == "observation":
        print(json.dumps({"actions": [{"do": "complete"}]}), flush=True)
"""
STUBBORN = "import time\nwhile True:\n    time.sleep(1)\n"
