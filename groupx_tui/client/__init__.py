"""How clients talk to the server: endpoints, the event stream, the session over both."""
