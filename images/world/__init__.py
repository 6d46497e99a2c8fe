"""The image of worlds: servers for mail, calendars, contacts, files and web sites."""
