"""A store of compiled things in files, shared by processes.

Takes keys and bytes, gives back the bytes under a key, with their digest checked; it
knows nothing of programs. Start reading at `files.Store`.

- `entry`: one entry as bytes: a digest, facts, and raw blocks
- `files`: entries as files, written whole or not at all
- `place`: the directory of the store, its size, and whom it trusts
- `prepared`: data that is made of the project's own sources once
- `sources`: texts of modules, for the keys of whatever they decide

>>> from traceir import store
>>> store.place_of({"TRACEIR_CACHE_DIR": "/var/cache/mine"}).directory
'/var/cache/mine'
"""

from traceir.store.files import Store, current, use
from traceir.store.place import Place, StoreWarning, place_of

__all__ = ["Place", "Store", "StoreWarning", "current", "place_of", "use"]
