"""Pure data and rules: states, transitions, limits, native events. No I/O, no clock, no asyncio."""
