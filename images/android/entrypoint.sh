#!/bin/sh
# Resume the virtual device and expose ADB (5555) and the console (5554) outside the container.
# MESOCOSM_ADB_KEYS: public key that the phone accepts. MESOCOSM_CONSOLE_TOKEN: token of the console.
# MESOCOSM_SAVED: folder of saved.tar.
set -eu
. "${0%/*}/emulator.sh"
if [ ! -f "$DATA/unpacked" ]; then
    rm -rf "$DATA/avd" "$DATA/home" "$DATA/marker"
    tar --sparse --extract --file "$MESOCOSM_SAVED/saved.tar" --directory "$DATA"
    touch "$DATA/unpacked"
fi
printf '%s' "$MESOCOSM_CONSOLE_TOKEN" >"$HOME/.emulator_console_auth_token"
trap stop_emulator EXIT
trap 'exit 143' TERM INT
start_emulator -snapshot mesocosm
await "${MESOCOSM_BOOT_S:-180}" "Android answered" has_booted
# An emulator that cannot load its snapshot boots from its disk without an error.
[ "$(ask 'getprop debug.mesocosm.saved')" = "$(cat "$DATA/marker")" ] ||
    fail "The emulator did not resume its snapshot: it started cold, so its state is not the saved one."
# The snapshot contains the key it was created with: use it to add the appliance's key, then open
# the ports.
adb root || true
await 60 "Android answered as root" has_booted
printf '%s\n' "$MESOCOSM_ADB_KEYS" | adb shell 'mkdir -p /data/misc/adb; cat >> /data/misc/adb/adb_keys'
case $(ask 'cat /data/misc/adb/adb_keys') in
    *"$MESOCOSM_ADB_KEYS"*) ;;
    *) fail "The appliance's key could not be added to the phone." ;;
esac
adb unroot || true
await 60 "Android answered again" has_booted
# Android accepts one connection at a time: this container's server must not keep it.
adb kill-server
socat TCP-LISTEN:5554,fork,reuseaddr TCP:127.0.0.1:5556 &
socat TCP-LISTEN:5555,fork,reuseaddr TCP:127.0.0.1:5557 &
wait "$emulator" || fail "The emulator ended."
fail "The emulator ended."
