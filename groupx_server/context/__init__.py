"""What an agent is told: the context packet, built at dispatch from the ledger."""
