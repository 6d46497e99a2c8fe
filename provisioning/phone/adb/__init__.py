"""What every phone shares that is reached over ADB: commands, files, screen, input, probe."""
