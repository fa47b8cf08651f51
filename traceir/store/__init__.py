"""What was computed once, kept in files for the processes that come after.

>>> from traceir import store
>>> store.place_of({"TRACEIR_CACHE_DIR": "/var/cache/mine"}).directory
'/var/cache/mine'
"""

from traceir.store.files import Store, current, use
from traceir.store.place import Place, StoreWarning, place_of

__all__ = ["Place", "Store", "StoreWarning", "current", "place_of", "use"]
