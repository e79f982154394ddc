"""The room's tools for agents, over the Model Context Protocol. Beside http, above rooms."""
