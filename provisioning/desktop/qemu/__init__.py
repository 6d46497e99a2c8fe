"""Desktop VMs: QEMU through the libvirtd of the hypervisor container."""
