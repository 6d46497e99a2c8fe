"""The image of the container that runs libvirtd and all QEMU processes."""
