#!/bin/sh
# Boot the virtual device once, install the user's APKs, and save the snapshot that every start
# resumes from. Runs in a container with /dev/kvm while the image is built.
set -eu
umask 077
[ -f "$HOME/.android/adbkey" ] || { mkdir -p "$HOME/.android"; adb keygen "$HOME/.android/adbkey"; }
emulator -avd mesocosm -ports 5556,5557 -no-window -no-audio -no-boot-anim -no-metrics \
    -gpu swiftshader_indirect -accel on -no-snapshot-load &
pid=$!
trap 'kill $pid 2>/dev/null || true' EXIT
export ANDROID_SERIAL=emulator-5556
timeout 600 adb wait-for-device
timeout 600 sh -c 'until [ "$(adb shell getprop sys.boot_completed)" = 1 ]; do sleep 1; done'
for name in window_animation_scale transition_animation_scale animator_duration_scale; do
    adb shell settings put global "$name" 0
done
for apk in "${APKS:-/opt/mesocosm/apks}"/*.apk; do
    [ -f "$apk" ] || continue
    adb install "$apk"
done
adb shell input keyevent KEYCODE_HOME
adb emu avd snapshot save mesocosm
adb emu kill
wait $pid || true
trap - EXIT
adb kill-server
