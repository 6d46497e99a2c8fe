"""The image of the container that holds libvirtd and every QEMU."""
