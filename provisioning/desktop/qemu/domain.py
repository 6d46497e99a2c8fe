"""The libvirt domain of a desktop VM."""

from __future__ import annotations

import xml.etree.ElementTree as ET  # only writes XML, never parses it
from dataclasses import dataclass
from pathlib import Path

from provisioning.accelerator.guest_run import HIDDEN

QEMU_NAMESPACE = "http://libvirt.org/schemas/domain/qemu/1.0"
PROBE_CHANNEL = "org.mesocosm.probe.0"
PROBE_SOCKET = "probe.sock"
STREAMS_CHANNEL = "org.mesocosm.streams.0"
STREAMS_SOCKET = "streams.sock"
SERIAL_LOG = "serial.log"
INPUT_SOCKET = "input.sock"
# A mostly idle guest needs little translated code; the default is 1 GiB per machine.
_TRANSLATION_CACHE_MIB = 256
# CPU features that are slow to emulate: byte by byte, on each page walk, or on each user copy.
_SLOW_WHEN_EMULATED = ("erms", "la57", "pku", "smap")
# RAM has the same name in every machine, so that one machine can load what another saved.
_RAM = "m0"
# All devices are on the root bus. Behind root ports, where libvirt would put them, each port is one
# more device to load, and the guest's root could eject them.
_SLOTS = {
    "video": 1,
    "disk": 3,
    "virtio-serial": 4,
    "tablet": 5,
    "keyboard": 6,
    "rng": 7,
    "nic": 0x10,
}


@dataclass(frozen=True, slots=True)
class DomainSpec:
    """How QEMU is started; a snapshot can be loaded only under the spec it was saved under.

    Attributes:
        name: name of the domain; the machine's id.
        accelerator: ``kvm`` or ``tcg``.
        memory_mib: size of the RAM.
        cpus: number of virtual CPUs.
        folder: the machine's folder, with ``disk.qcow2``, ``probe.sock``, ``streams.sock``,
            ``input.sock`` and ``serial.log``.
        kernel: path of the kernel.
        initrd: path of the initrd.
        ssh_port: port of the hypervisor container that is forwarded to the guest's port 22.
        mac: MAC address of its network card.
        ram: file that the RAM is mapped from; None allocates the host's memory.
        is_template: whether writes to the RAM go to that file; otherwise pages are copied on write.
        is_incoming: whether QEMU waits for a migration stream instead of booting.
        disk_io: how QEMU reads and writes the disk: ``io_uring`` or ``threads``.
        cpu_without: CPU features that the host's CPU has and a guest under KVM does not.
        screen: width and height in px, such as ``1920x1080``; empty for 1280x800.
    """

    name: str
    accelerator: str
    memory_mib: int
    cpus: int
    folder: Path
    kernel: Path
    initrd: Path
    ssh_port: int
    mac: str
    ram: Path | None = None
    is_template: bool = False
    is_incoming: bool = False
    disk_io: str = "io_uring"
    cpu_without: tuple[str, ...] = ()
    screen: str = ""

    @property
    def disk(self) -> Path:
        """Return the path of the machine's own overlay."""
        return self.folder / "disk.qcow2"

    @property
    def probe_socket(self) -> Path:
        """Return the path of the host end of the probe's virtio-serial port."""
        return self.folder / PROBE_SOCKET

    @property
    def streams_socket(self) -> Path:
        """Return the path of the host end of the virtio-serial port for connections to services."""
        return self.folder / STREAMS_SOCKET

    @property
    def serial_log(self) -> Path:
        """Return the path of the log of the guest's serial console."""
        return self.folder / SERIAL_LOG


def domain_xml(spec: DomainSpec) -> str:
    """Return the domain XML.

    The network is QEMU's restricted user network: the guest cannot reach anything, and is reachable
    only through the one forwarded port.

    Source: libvirt 9.0, formatdomain; QEMU 7.2, ``-netdev user``.
    """
    ET.register_namespace("qemu", QEMU_NAMESPACE)
    kvm = spec.accelerator == "kvm"
    root = ET.Element("domain", type="kvm" if kvm else "qemu")
    _text(root, "name", spec.name)
    # libvirt generates an id at each start, so that kernels reseed their random pool in forks.
    ET.SubElement(root, "genid")
    _text(root, "memory", str(spec.memory_mib), unit="MiB")
    _text(root, "vcpu", str(spec.cpus))
    boot = ET.SubElement(root, "os")
    _text(boot, "type", "hvm", arch="x86_64", machine="q35")
    _text(boot, "kernel", str(spec.kernel))
    _text(boot, "initrd", str(spec.initrd))
    _text(
        boot,
        "cmdline",
        "root=/dev/vda rw console=ttyS0 quiet mitigations=off transparent_hugepage=madvise",
    )
    features = ET.SubElement(root, "features")
    ET.SubElement(features, "acpi")
    if kvm:
        ET.SubElement(features, "pmu", state="off")
    else:
        cache = ET.SubElement(features, "tcg")
        _text(cache, "tb-cache", str(_TRANSLATION_CACHE_MIB), unit="MiB")
    cpu = ET.SubElement(root, "cpu", mode="host-passthrough" if kvm else "maximum")
    for name in (*HIDDEN, *spec.cpu_without) if kvm else _SLOW_WHEN_EMULATED:
        ET.SubElement(cpu, "feature", policy="disable", name=name)
    ET.SubElement(root, "clock", offset="utc")
    for event, action in (("poweroff", "destroy"), ("reboot", "restart"), ("crash", "destroy")):
        _text(root, f"on_{event}", action)
    _add_devices(ET.SubElement(root, "devices"), spec)
    _add_arguments(root, spec)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def hardware(
    accelerator: str,
    *,
    memory_mib: int,
    cpus: int,
    cpu_without: tuple[str, ...] = (),
    screen: str = "",
) -> str:
    """Return the part of a domain that a snapshot depends on: its XML without machine-specific names."""
    nowhere = Path("/")
    return domain_xml(
        DomainSpec(
            name="",
            accelerator=accelerator,
            memory_mib=memory_mib,
            cpus=cpus,
            folder=nowhere,
            kernel=nowhere,
            initrd=nowhere,
            ssh_port=0,
            mac="",
            cpu_without=cpu_without,
            screen=screen,
        )
    )


def _add_devices(devices: ET.Element, spec: DomainSpec) -> None:
    _text(devices, "emulator", "/usr/bin/qemu-system-x86_64")
    disk = ET.SubElement(devices, "disk", type="file", device="disk")
    # The overlay need not survive a host crash, so flushes are acknowledged at once.
    # io_uring reads cached data at once; with threads, half of a rewind is thread switching.
    options = {"cache": "unsafe", "discard": "unmap", "io": spec.disk_io}
    ET.SubElement(disk, "driver", {"name": "qemu", "type": "qcow2", **options})
    ET.SubElement(disk, "source", file=str(spec.disk))
    ET.SubElement(disk, "target", dev="vda", bus="virtio")
    _address(disk, "disk")
    ET.SubElement(devices, "controller", type="usb", model="none")
    _address(ET.SubElement(devices, "controller", type="virtio-serial"), "virtio-serial")
    serial = ET.SubElement(devices, "serial", type="file")
    ET.SubElement(serial, "source", path=str(spec.serial_log))
    ET.SubElement(serial, "target", port="0")
    ports = {PROBE_CHANNEL: spec.probe_socket, STREAMS_CHANNEL: spec.streams_socket}
    for name, path in ports.items():
        channel = ET.SubElement(devices, "channel", type="unix")
        ET.SubElement(channel, "source", mode="bind", path=str(path))
        ET.SubElement(channel, "target", type="virtio", name=name)
    for kind in ("tablet", "keyboard"):
        _address(ET.SubElement(devices, "input", type=kind, bus="virtio"), kind)
    graphics = ET.SubElement(devices, "graphics", type="vnc", socket=str(spec.folder / "vnc.sock"))
    ET.SubElement(graphics, "listen", type="socket", socket=str(spec.folder / "vnc.sock"))
    video = ET.SubElement(devices, "video")
    model = ET.SubElement(video, "model", type="vga", vram="16384")
    if spec.screen:
        width, height = spec.screen.split("x")
        ET.SubElement(model, "resolution", x=width, y=height)
    _address(video, "video")
    rng = ET.SubElement(devices, "rng", model="virtio")
    _text(rng, "backend", "/dev/urandom", model="random")
    _address(rng, "rng")
    # With a balloon, a fork's guest could punch holes into the RAM file that all forks start from.
    ET.SubElement(devices, "memballoon", model="none")


def _add_arguments(root: ET.Element, spec: DomainSpec) -> None:
    """Add QEMU arguments that libvirt has no XML for: network, RAM in a file, a second monitor.

    The network card does not announce itself after a snapshot is loaded, since no other host is on
    the network. With announcements, QEMU 7.2 crashes with a null pointer (``virtio_net_reset``, the
    announcement timer) when the guest resets the card, as kernels do when they shut down.
    """
    line = ET.SubElement(root, f"{{{QEMU_NAMESPACE}}}commandline")
    arguments = (
        *("-object", _ram_object(spec), "-machine", f"memory-backend={_RAM}"),
        *(("-incoming", "defer") if spec.is_incoming else ()),
        "-netdev",
        f"user,id=net0,restrict=on,hostfwd=tcp::{spec.ssh_port}-:22",
        "-device",
        f"virtio-net-pci,netdev=net0,mac={spec.mac},addr={_SLOTS['nic']:#x},guest_announce=off",
        "-chardev",
        f"socket,id=input,path={_escaped(spec.folder / INPUT_SOCKET)},server=on,wait=off",
        *("-mon", "chardev=input,mode=control"),
    )
    for argument in arguments:
        ET.SubElement(line, f"{{{QEMU_NAMESPACE}}}arg", value=argument)


def _ram_object(spec: DomainSpec) -> str:
    size = f"id={_RAM},size={spec.memory_mib}M"
    if spec.ram is None:
        return f"memory-backend-ram,{size}"
    share = "on" if spec.is_template else "off"
    return f"memory-backend-file,{size},mem-path={_escaped(spec.ram)},share={share}"


def _escaped(path: Path) -> str:
    """Return a path as the value of an option of a QEMU argument."""
    return str(path).replace(",", ",,")


def _address(device: ET.Element, name: str) -> None:
    """Place a device on the root bus."""
    slot = f"{_SLOTS[name]:#x}"
    ET.SubElement(device, "address", type="pci", domain="0", bus="0", slot=slot, function="0")


def _text(parent: ET.Element, tag: str, text: str, **attributes: str) -> None:
    ET.SubElement(parent, tag, attributes).text = text
