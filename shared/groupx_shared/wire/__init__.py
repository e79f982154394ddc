"""The wire: models of everything that crosses between server and clients.

Keys are camelCase on the wire. Requests are strict (an unknown key is refused); replies and events
are tolerant on read (unknown keys are ignored), so an older client can read a newer server.
"""
