"""rates: how often each token may ask; counted by each server for itself, forgotten when it ends."""

import threading
from collections import OrderedDict
from collections.abc import Callable

MINUTE = 60.0  # seconds
MOST_KNOWN = 10_000  # tokens counted at once; then the one that asked longest ago is forgotten


class Rates:
    """
    At most *each_minute* requests a minute by each key; what was not used is there at once, up to a minute's.

    *clock* returns seconds that only grow. Calls may come from many threads.
    """

    def __init__(self, each_minute: int, clock: Callable[[], float]) -> None:
        self._most = float(each_minute)
        self._clock = clock
        self._left: OrderedDict[bytes, tuple[float, float]] = OrderedDict()  # key → requests left, when
        self._lock = threading.Lock()

    def wait(self, key: bytes) -> float:
        """Count a request of *key*, unless it is one too many; return the seconds until it may ask, or 0."""
        with self._lock:
            now = self._clock()
            left, at = self._left.pop(key, (self._most, now))
            left = min(self._most, left + (now - at) * self._most / MINUTE)
            waits = 0.0 if left >= 1 else (1 - left) * MINUTE / self._most
            self._left[key] = (left if waits else left - 1, now)
            if len(self._left) > MOST_KNOWN:
                self._left.popitem(last=False)
            return waits
