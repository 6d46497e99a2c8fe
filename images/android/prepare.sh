#!/bin/sh
# Create the virtual device, boot it once, install the user's APKs, save the snapshot that every start
# resumes from, and pack all of it. Runs in a container with /dev/kvm while the image is built.
# MESOCOSM_SAVED: folder for saved.tar.
set -eu
. "${0%/*}/emulator.sh"
key=$HOME/.android/adbkey
[ -f "$key" ] || adb keygen "$key"
echo no | avdmanager create avd --force --name mesocosm --package "$SYSTEM_IMAGE" --device "$DEVICE"
trap stop_emulator EXIT
start_emulator -no-snapshot-load
await "${MESOCOSM_BOOT_S:-600}" "Android had booted" has_booted
for name in window_animation_scale transition_animation_scale animator_duration_scale; do
    adb shell settings put global "$name" 0
done
# The screen stays on, without a keyguard: both would be in the snapshot.
adb shell svc power stayon true
adb shell settings put global stay_on_while_plugged_in 7
adb shell settings put secure lockscreen.disabled 1
adb shell locksettings set-disabled true || true
for apk in "${APKS:-/opt/mesocosm/apks}"/*.apk; do
    [ -f "$apk" ] || continue
    adb install "$apk"
done
adb shell input keyevent KEYCODE_WAKEUP
adb shell wm dismiss-keyguard
adb shell input keyevent KEYCODE_HOME
# The launcher is idle once two dumps in a row are the same; a dump fails while the screen changes.
shown=
is_idle() {
    before=$shown
    shown=$(timeout 20 adb exec-out uiautomator dump /dev/tty 2>/dev/null) || shown=
    case $shown in *'</hierarchy>'*) [ "$shown" = "$before" ] ;; *) false ;; esac
}
await "${MESOCOSM_IDLE_S:-180}" "the launcher was idle" is_idle
# Properties of this name exist only in memory, so an emulator that has it resumed this snapshot.
marker=$(cat /proc/sys/kernel/random/uuid)
adb shell setprop debug.mesocosm.saved "$marker"
printf '%s' "$marker" >"$DATA/marker"
ask_console avd snapshot save mesocosm
ask_console avd snapshot list
case $output in *mesocosm*) ;; *) fail "The saved snapshot is not listed: $output" ;; esac
adb kill-server
stop_emulator
trap - EXIT
find "$ANDROID_AVD_HOME" -name '*.lock' -exec rm -rf {} +
tar --sparse --create --file "$MESOCOSM_SAVED/saved.tar" --directory "$DATA" avd home marker
chmod 644 "$MESOCOSM_SAVED/saved.tar"
