"""The keys of a VM's keyboard: X keycodes of the guest, and QEMU's names for them.

What a key means is up to the guest's layout: `provisioning.probe.display.strokes` decides which keys
to press. Keys that switch a computer off or to sleep are left out.
"""

from __future__ import annotations

# Source: QEMU 7.2, qapi/ui.json (QKeyCode) and ui/input-keymap-qcode-to-linux.
_BY_LINUX_CODE = {
    1: "esc", 2: "1", 3: "2", 4: "3", 5: "4", 6: "5", 7: "6", 8: "7", 9: "8", 10: "9", 11: "0",
    12: "minus", 13: "equal", 14: "backspace", 15: "tab",
    16: "q", 17: "w", 18: "e", 19: "r", 20: "t", 21: "y", 22: "u", 23: "i", 24: "o", 25: "p",
    26: "bracket_left", 27: "bracket_right", 28: "ret", 29: "ctrl",
    30: "a", 31: "s", 32: "d", 33: "f", 34: "g", 35: "h", 36: "j", 37: "k", 38: "l",
    39: "semicolon", 40: "apostrophe", 41: "grave_accent", 42: "shift", 43: "backslash",
    44: "z", 45: "x", 46: "c", 47: "v", 48: "b", 49: "n", 50: "m", 51: "comma", 52: "dot",
    53: "slash", 54: "shift_r", 55: "kp_multiply", 56: "alt", 57: "spc", 58: "caps_lock",
    59: "f1", 60: "f2", 61: "f3", 62: "f4", 63: "f5", 64: "f6", 65: "f7", 66: "f8", 67: "f9",
    68: "f10", 69: "num_lock", 70: "scroll_lock",
    71: "kp_7", 72: "kp_8", 73: "kp_9", 74: "kp_subtract", 75: "kp_4", 76: "kp_5", 77: "kp_6",
    78: "kp_add", 79: "kp_1", 80: "kp_2", 81: "kp_3", 82: "kp_0", 83: "kp_decimal",
    86: "less", 87: "f11", 88: "f12", 89: "ro", 91: "hiragana", 92: "henkan",
    93: "katakanahiragana", 94: "muhenkan", 96: "kp_enter", 97: "ctrl_r", 98: "kp_divide",
    99: "print", 100: "alt_r", 101: "lf", 102: "home", 103: "up", 104: "pgup", 105: "left",
    106: "right", 107: "end", 108: "down", 109: "pgdn", 110: "insert", 111: "delete",
    113: "audiomute", 114: "volumedown", 115: "volumeup", 117: "kp_equals", 119: "pause",
    121: "kp_comma", 122: "lang1", 123: "lang2", 124: "yen", 125: "meta_l", 126: "meta_r",
    127: "compose", 128: "stop", 129: "again", 130: "props", 131: "undo", 132: "front",
    133: "copy", 134: "open", 135: "paste", 136: "find", 137: "cut", 138: "help", 139: "menu",
    140: "calculator", 155: "mail", 156: "ac_bookmarks", 157: "computer", 158: "ac_back",
    159: "ac_forward", 163: "audionext", 164: "audioplay", 165: "audioprev", 166: "audiostop",
    172: "ac_home", 173: "ac_refresh", 226: "mediaselect",
}  # fmt: skip
# Source: xf86-input-libinput, xf86libinput.c: X keycodes begin at 8.
_X_OFFSET = 8

QCODES = {code + _X_OFFSET: name for code, name in _BY_LINUX_CODE.items()}
"""QEMU's name of each key that a VM's keyboard can press, by X keycode."""
