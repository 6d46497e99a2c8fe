"""Programs that setup operations run in guests: standard library only, one file each."""
