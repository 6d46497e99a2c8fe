"""Google's emulator in a container: its recipe and the scripts inside."""
