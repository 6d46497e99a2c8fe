"""The image of a desktop guest: GNOME Flashback on X11 with office, browser and editors."""
