#!/bin/sh
# Create the LibreOffice profile of the user who runs this: start each program once, on a private X server. Without it,
# the first program that a trial opens creates the profile: slowly under emulation, and as side effects of the agent.
set -eu
profile=$HOME/.config/libreoffice/4/user
modifications=$profile/registrymodifications.xcu
scratch=$(mktemp -d)
export LANG=en_US.UTF-8 XDG_CURRENT_DESKTOP=GNOME-Flashback:GNOME XAUTHORITY=/dev/null
export TMPDIR="$scratch" XDG_RUNTIME_DIR="$scratch" XDG_CACHE_HOME="$scratch/cache"
export GSETTINGS_BACKEND=memory GIO_USE_VFS=local NO_AT_BRIDGE=1
cd "$scratch"

# Wait until a command succeeds. In an emulated guest (the build from a cloud image) LibreOffice starts slowly.
await() {
    count=0
    until "$@" > /dev/null 2>&1; do
        count=$((count + 1))
        if [ $count -eq 1200 ]; then
            echo "office-profile: timed out: $*" >&2
            cat "$scratch/office.log" >&2
            exit 1
        fi
        sleep 0.5
    done
}

is_written() {
    before=$(find "$profile" -printf '%p %s %T@\n' | sort)
    sleep 3
    [ "$(find "$profile" -printf '%p %s %T@\n' | sort)" = "$before" ]
}

# Without a window manager, the window gets its keys only if it has the focus.
is_closed() {
    kill -0 "$office" || return 0
    for window in $(xdotool search --onlyvisible --class "libreoffice-$1"); do
        xdotool windowfocus "$window" key --window "$window" ctrl+q || true
    done
    return 1
}

end() {
    kill "$server" && wait "$server" || true
    rm -rf "$scratch" /tmp/OSL_PIPE_"$(id -u)"_*
    rmdir /tmp/.X11-unix || true
} 2> /dev/null

: > office.log
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp -nolisten local -noreset 3> display 2> office.log &
server=$!
trap end EXIT
await test -s display
DISPLAY=:$(cat display)
export DISPLAY

for program in writer calc impress; do
    dbus-run-session -- soffice --norestore --$program > office.log 2>&1 &
    office=$!
    await xdotool search --onlyvisible --class libreoffice-$program
    await is_written
    await is_closed $program
done
# Windows and toolbars get the positions of a fresh profile, and no notice counts the days since this build.
kept='Setup/L10N"|Setup/Office"|Office\.Linguistic/'
grep -E "^<(\?xml|/?oor:items|item oor:path=\"/org\.openoffice\.($kept))" "$modifications" > kept
cat kept > "$modifications"
