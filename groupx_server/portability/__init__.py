"""Copies of a ledger: making, keeping, proving, and putting one back."""
