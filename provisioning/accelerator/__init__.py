"""Find out whether guests run under KVM."""
