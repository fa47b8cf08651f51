"""The protocol: implementations in any language, asked by lines of JSON.

Takes a command line; gives an implementation that the judge asks as it asks an
adapter, and has answers checked. Start reading at `client.CommandClient`.

- `channel`: lines to and from a command, whatever it does
- `client`: a command as an implementation: each question to it is a request
- `decoding`: types, arrays, programs, sessions from JSON
- `encoding`: types, arrays, programs, sessions as JSON
- `messages`: requests and answers, as lines of JSON
- `server`: an adapter of Python's behind the protocol
"""
