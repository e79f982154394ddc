"""The headless server: owns the ledger, drives the agents, serves clients on loopback."""
