"""A minimal guest that proves that guests run: a 512-byte boot sector that reports over a port.

It uses what a kernel needs from a virtual CPU: paging, long mode, and ten interrupts of the
programmable timer with the CPU halted between them. Then it writes `REPORT` to QEMU's debug exit
device, which ends QEMU with exit code `EXIT_CODE`.

Source: Intel SDM vol. 3A, 9.8.5 (entering IA-32e mode) and 6.14.1 (64-bit gates); Intel 8259A
and 8254 data sheets; QEMU ``hw/misc/debugexit.c`` (exit code is value * 2 + 1).
"""

from __future__ import annotations

PORT = 0xF4
REPORT = 0x2A
EXIT_CODE = REPORT * 2 + 1
_ORIGIN = 0x7C00  # where a BIOS loads a boot sector
_SECTOR_BYTES = 512

_LINES = (
    # 16 bits: flat segments, a stack below the sector.
    "fa",  # cli
    "31 c0 8e d8 8e c0 8e d0",  # xor ax,ax; mov ds,ax; mov es,ax; mov ss,ax
    "bc 00 7c",  # mov sp,0x7c00
    # Clear 16 KiB at 0x1000: three page tables and the interrupt table; CR3 is the first.
    "66 bf 00 10 00 00  0f 22 df",  # mov edi,0x1000; mov cr3,edi
    "66 31 c0  66 b9 00 10 00 00  66 f3 ab",  # xor eax,eax; mov ecx,0x1000; rep stosd
    # Map the first 2 MiB onto themselves: PML4 -> PDPT -> one large page.
    "66 c7 06 00 10 03 20 00 00",  # mov dword [0x1000],0x2003
    "66 c7 06 00 20 03 30 00 00",  # mov dword [0x2000],0x3003
    "66 c7 06 00 30 83 00 00 00",  # mov dword [0x3000],0x0083
    # Interrupt 0x20 (table at 0x4000): a 64-bit gate to `handler` (0x7cb5) in segment 8.
    "c7 06 00 42 b5 7c  c7 06 02 42 08 00  c7 06 04 42 00 8e",
    # Interrupt controller: lines 0-7 raise interrupts 0x20-0x27, all masked except the timer.
    "b0 11 e6 20  b0 20 e6 21  b0 04 e6 21  b0 01 e6 21  b0 fe e6 21",
    # Timer: channel 0, rate generator, divisor 0x4a9 = 1 kHz.
    "b0 34 e6 43  b0 a9 e6 40  b0 04 e6 40",
    # Long mode: CR4.PAE and PGE, EFER.LME, CR0.PG and PE, then a far jump to `long`.
    "66 b8 a0 00 00 00  0f 22 e0",  # mov eax,0xa0; mov cr4,eax
    "66 b9 80 00 00 c0  0f 32",  # mov ecx,0xc0000080; rdmsr
    "66 0d 00 01 00 00  0f 30",  # or eax,0x100; wrmsr
    "0f 20 c0  66 0d 01 00 00 80  0f 22 c0",  # mov eax,cr0; or eax,0x80000001; mov cr0,eax
    "0f 01 16 cd 7c",  # lgdt [0x7ccd]
    "ea 9d 7c 08 00",  # jmp 8:0x7c9d
    # long (0x7c9d), 64 bits: wait for ten interrupts.
    "0f 01 1c 25 d3 7c 00 00",  # lidt [0x7cd3]
    "31 db  fb",  # xor ebx,ebx; sti
    "f4  83 fb 0a  72 fa",  # hlt; cmp ebx,10; jb back to hlt
    f"b0 {REPORT:02x}  e6 {PORT:02x}",  # mov al,REPORT; out PORT,al
    "f4 eb fd",  # hlt, forever
    # handler (0x7cb5): count, acknowledge, return.
    "ff c3  b0 20 e6 20  48 cf",  # inc ebx; mov al,0x20; out 0x20,al; iretq
    # Segment table (0x7cbd): null, 64-bit code.
    "00 00 00 00 00 00 00 00  00 00 00 00 00 9a 20 00",
    "0f 00  bd 7c 00 00",  # limit and address of the segment table (0x7ccd)
    "ff 0f  00 40 00 00 00 00 00 00",  # limit and address of the interrupt table (0x7cd3)
)


def boot_sector() -> bytes:
    """Return the boot sector: 512 bytes that end with the BIOS boot signature."""
    code = bytes.fromhex(" ".join(_LINES))
    return code.ljust(_SECTOR_BYTES - 2, b"\0") + b"\x55\xaa"
