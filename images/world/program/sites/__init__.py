"""The web sites of a world; they run in the container, with Debian's Starlette and Jinja."""
