# Shared by prepare.sh and entrypoint.sh. Both start the emulator here, because a snapshot can only be
# loaded with the options that it was saved with.
# MESOCOSM_DATA: folder of the virtual device, of adb's key and of the marker; a volume.
DATA=${MESOCOSM_DATA:-/data}
HOME=$DATA/home
ANDROID_AVD_HOME=$DATA/avd
ANDROID_SDK_ROOT=$ANDROID_HOME
ANDROID_SERIAL=emulator-5556
export HOME ANDROID_AVD_HOME ANDROID_SDK_ROOT ANDROID_SERIAL
umask 077
mkdir -p "$HOME/.android" "$ANDROID_AVD_HOME"
emulator=

fail() {
    echo "mesocosm: $*" >&2
    exit 1
}

# Locks of an emulator that was killed would stop the next one.
start_emulator() {
    find "$ANDROID_AVD_HOME" -name '*.lock' -exec rm -rf {} +
    rm -rf /tmp/android-*/*.lock "$HOME"/.android/*.lock
    emulator -avd mesocosm -ports 5556,5557 -no-window -no-audio -no-boot-anim -no-metrics \
        -gpu swiftshader_indirect -accel on -no-snapshot-save "$@" &
    emulator=$!
}

is_alive() {
    kill -0 "$emulator" 2>/dev/null
}

# End the emulator within 20 s, even if it ignores SIGTERM: Docker waits 30 s.
stop_emulator() {
    [ -n "$emulator" ] || return 0
    kill -TERM "$emulator" 2>/dev/null || return 0
    end=$(($(date +%s) + ${MESOCOSM_STOP_S:-20}))
    while is_alive && [ "$(date +%s)" -lt "$end" ]; do sleep 0.2; done
    kill -KILL "$emulator" 2>/dev/null || true
}

# await SECONDS WHAT COMMAND...: repeat a command until it succeeds, while the emulator runs.
await() {
    end=$(($(date +%s) + $1))
    limit=$1 what=$2
    shift 2
    until "$@"; do
        is_alive || fail "The emulator ended before $what; its output is above."
        [ "$(date +%s)" -lt "$end" ] || fail "The emulator runs, but not within $limit s: $what."
        timeout 3 adb reconnect offline >/dev/null 2>&1 || true
        sleep 0.5
    done
}

# Send a command to Android, and give up after 3 s: a stale connection never answers.
ask() {
    timeout "${MESOCOSM_TRY_S:-3}" adb shell "$1" 2>/dev/null | tr -d '\r'
}

has_booted() {
    [ "$(ask 'getprop sys.boot_completed')" = 1 ]
}

# Send a command to the console, whose client exits with 0 even if it was refused.
ask_console() {
    output=$(timeout 180 adb emu "$@" 2>&1 | tr -d '\r') || true
    case $output in
        *KO*) fail "The console refused '$*': $output" ;;
        *OK*) ;;
        *) fail "The console did not answer '$*': $output" ;;
    esac
}
