"""Remote desktops: reached over SSH, reset by their owner's command."""
