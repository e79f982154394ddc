"""The HTTP and SSE surface: routes as data, credentials, refusals, streams."""
