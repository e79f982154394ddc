"""Agent programs: the driver contract, process supervision, protocols without I/O, hosts."""
