#!/bin/sh
# Install the SDK. The first archive is checked against its pinned digest; the SDK manager in it
# verifies its own downloads; the system image must have the pinned revision.
set -eu
tools=${ANDROID_HOME}/cmdline-tools
archive=$(mktemp)
mkdir -p "$tools"
curl --fail --silent --show-error --location --output "$archive" "$TOOLS_ADDRESS"
echo "$TOOLS_SHA256  $archive" | sha256sum --check --strict
unzip -q "$archive" -d "$tools"
mv "$tools/cmdline-tools" "$tools/latest"
rm "$archive"
yes | sdkmanager --licenses >/dev/null
sdkmanager --install platform-tools emulator "$SYSTEM_IMAGE"
# The emulator refuses an SDK without this folder: "Broken AVD system path".
mkdir -p "$ANDROID_HOME/platforms"
properties=$ANDROID_HOME/$(echo "$SYSTEM_IMAGE" | tr ';' '/')/source.properties
found=$(sed -n 's/^Pkg.Revision= *//p' "$properties")
if [ "$found" != "$SYSTEM_IMAGE_REVISION" ]; then
    echo "$SYSTEM_IMAGE has revision $found, pinned is $SYSTEM_IMAGE_REVISION: see pins.json."
    exit 1
fi
