#!/bin/sh
# Resume the virtual device and expose ADB (5555) and the console (5554) outside the container.
# MESOCOSM_ADB_KEYS: public key that the phone accepts. MESOCOSM_CONSOLE_TOKEN: token of the console.
# MESOCOSM_EMULATOR_READ_ONLY=1: several emulators may share one virtual device; none can save.
# MESOCOSM_EMULATOR_GPU: swiftshader_indirect, or host.
set -eu
umask 077
printf '%s' "$MESOCOSM_CONSOLE_TOKEN" > "$HOME/.emulator_console_auth_token"
set -- -avd mesocosm -ports 5556,5557 -no-window -no-audio -no-boot-anim -no-metrics \
    -gpu "${MESOCOSM_EMULATOR_GPU:-swiftshader_indirect}" -accel on \
    -snapshot mesocosm -no-snapshot-save
if [ "${MESOCOSM_EMULATOR_READ_ONLY:-0}" = 1 ]; then
    set -- "$@" -read-only
fi
# The snapshot contains the key it was created with: use it to add the appliance's key, then open
# the ports.
(
    export ANDROID_SERIAL=emulator-5556
    timeout 120 adb wait-for-device
    adb root
    timeout 60 adb wait-for-device
    printf '%s\n' "$MESOCOSM_ADB_KEYS" | adb shell 'cat >> /data/misc/adb/adb_keys'
    adb unroot
    timeout 60 adb wait-for-device
    adb kill-server
    socat TCP-LISTEN:5554,fork,reuseaddr TCP:127.0.0.1:5556 &
    exec socat TCP-LISTEN:5555,fork,reuseaddr TCP:127.0.0.1:5557
) &
exec emulator "$@"
