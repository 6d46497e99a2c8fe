"""Desktop VMs, run by QEMU through the libvirtd of the hypervisor container."""
