"""Our own small agent: speaks ACP over stdio like any other, with a model or as the guide.

It knows the server only through the wire (ACP in front, REST behind) and imports nothing of
groupx_server outside this package. The other half is the `acp` driver in agents/.
"""
