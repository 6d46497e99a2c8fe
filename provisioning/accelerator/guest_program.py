"""A minimal 64-bit guest that does what desktops do, and reports its progress: 512 bytes of code.

A BIOS loads it as a boot sector. It enters long mode with paging and halts until ten interrupts of
the programmable timer have come, which proves that guests run. Then it does what desktops spend
their time on: `ROUNDS` rounds of integer arithmetic on a buffer of 64 KiB, and as many rounds that
write 512 entries of a page table, reload it and touch the pages, 400 times each. It reports on two
ports: lines of one letter to QEMU's debug console, as its work proceeds, and `REPORT` to the debug
exit device, which ends QEMU with exit code `EXIT_CODE`.

Its real-mode part must not be measured: virtualisation often interprets real mode, which no desktop
uses after its first milliseconds.

Source: Intel SDM vol. 3A, 9.8.5 (entering IA-32e mode), 4.5 (4-level paging) and 6.14.1 (64-bit
gates); Intel 8259A and 8254 data sheets; QEMU ``hw/misc/debugexit.c`` (exit code is value * 2 + 1)
and ``hw/char/debugcon.c``.
"""

from __future__ import annotations

PORT = 0xF4
"""Port of the debug exit device."""

CONSOLE_PORT = 0xE9
"""Port of the debug console."""

REPORT = 0x2A
EXIT_CODE = REPORT * 2 + 1
BEGUN, COMPUTED, PAGED = "b", "c", "p"
"""Lines on the debug console: at the beginning of the work, after a round of each kind."""

ROUNDS = 10
_STEPS = 4_000_000  # of arithmetic in a round
_TABLES = 400  # page tables in a round
_SECTOR_BYTES = 512


def boot_sector() -> bytes:
    """Return the program: 512 bytes that end with the BIOS boot signature."""
    code = bytes.fromhex(" ".join(_LINES))
    return code.ljust(_SECTOR_BYTES - 2, b"\0") + b"\x55\xaa"


def _u32(number: int) -> str:
    return number.to_bytes(4, "little").hex(" ")


def _line(letter: str) -> str:
    """Return the code that writes a letter and a newline to the debug console: 8 bytes."""
    return f"b0 {ord(letter):02x} e6 {CONSOLE_PORT:02x}  b0 0a e6 {CONSOLE_PORT:02x}"


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
    # Interrupt 0x20 (table at 0x4000): a 64-bit gate to `handler` (0x7d60) in segment 8.
    "c7 06 00 42 60 7d  c7 06 02 42 08 00  c7 06 04 42 00 8e",
    # Interrupt controller: lines 0-7 raise interrupts 0x20-0x27, all masked except the timer.
    "b0 11 e6 20  b0 20 e6 21  b0 04 e6 21  b0 01 e6 21  b0 fe e6 21",
    # Timer: channel 0, rate generator, divisor 0x4a9 = 1 kHz.
    "b0 34 e6 43  b0 a9 e6 40  b0 04 e6 40",
    # Long mode: CR4.PAE and PGE, EFER.LME, CR0.PG and PE, then a far jump to `long`.
    "66 b8 a0 00 00 00  0f 22 e0",  # mov eax,0xa0; mov cr4,eax
    "66 b9 80 00 00 c0  0f 32",  # mov ecx,0xc0000080; rdmsr
    "66 0d 00 01 00 00  0f 30",  # or eax,0x100; wrmsr
    "0f 20 c0  66 0d 01 00 00 80  0f 22 c0",  # mov eax,cr0; or eax,0x80000001; mov cr0,eax
    "0f 01 16 78 7d",  # lgdt [0x7d78]
    "ea 9d 7c 08 00",  # jmp 8:0x7c9d
    # long (0x7c9d), 64 bits: wait for ten interrupts.
    "0f 01 1c 25 7e 7d 00 00",  # lidt [0x7d7e]
    "31 db  fb",  # xor ebx,ebx; sti
    "f4  83 fb 0a  72 fa",  # hlt; cmp ebx,10; jb back to hlt
    "fa",  # cli
    _line(BEGUN),
    # Arithmetic on 64 KiB at 1 MiB.
    "be 00 00 10 00",  # mov esi,0x100000
    f"bf {_u32(ROUNDS)}",  # mov edi,ROUNDS
    f"b9 {_u32(_STEPS)}",  # round: mov ecx,_STEPS
    "48 69 c0 2d f4 51 58",  # step: imul rax,rax,0x5851f42d
    "48 01 c8",  # add rax,rcx
    "48 89 c2  48 c1 ea 21  81 e2 f8 ff 00 00",  # mov rdx,rax; shr rdx,33; and edx,0xfff8
    "48 01 04 16  48 33 04 16",  # add [rsi+rdx],rax; xor rax,[rsi+rdx]
    "ff c9  75 dd",  # dec ecx; jnz step
    _line(COMPUTED),
    "ff cf  75 cc",  # dec edi; jnz round
    # Map 2-4 MiB by a page table at 0x5000, to pages of 4-6 MiB in another order each time.
    "c7 04 25 08 30 00 00 03 50 00 00",  # mov dword [0x3008],0x5003
    f"bf {_u32(ROUNDS)}",  # mov edi,ROUNDS
    f"bd {_u32(_TABLES)}",  # round: mov ebp,_TABLES
    "31 c9",  # table: xor ecx,ecx
    "8d 04 29  25 ff 01 00 00",  # entry: lea eax,[rcx+rbp]; and eax,511
    "c1 e0 0c  05 03 00 40 00",  # shl eax,12; add eax,0x400003
    "48 89 04 cd 00 50 00 00",  # mov [0x5000+rcx*8],rax
    "ff c1  81 f9 00 02 00 00  72 de",  # inc ecx; cmp ecx,512; jb entry
    "0f 20 d8  0f 22 d8",  # mov rax,cr3; mov cr3,rax
    "ba 00 00 20 00",  # mov edx,0x200000
    "ff 02  81 c2 00 10 00 00",  # touch: inc dword [rdx]; add edx,0x1000
    "81 fa 00 00 40 00  72 f0",  # cmp edx,0x400000; jb touch
    "ff cd  75 bd",  # dec ebp; jnz table
    _line(PAGED),
    "ff cf  75 ac",  # dec edi; jnz round
    f"b0 {REPORT:02x}  e6 {PORT:02x}",  # mov al,REPORT; out PORT,al
    "f4 eb fd",  # hlt, forever
    # handler (0x7d60): count, acknowledge, return.
    "ff c3  b0 20 e6 20  48 cf",  # inc ebx; mov al,0x20; out 0x20,al; iretq
    # Segment table (0x7d68): null, 64-bit code.
    "00 00 00 00 00 00 00 00  00 00 00 00 00 9a 20 00",
    "0f 00  68 7d 00 00",  # limit and address of the segment table (0x7d78)
    "ff 0f  00 40 00 00 00 00 00 00",  # limit and address of the interrupt table (0x7d7e)
)
