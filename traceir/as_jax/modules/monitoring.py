"""Events, and who listens to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

__all__ = [
    "clear_event_listeners",
    "record_event",
    "record_event_duration_secs",
    "record_event_time_span",
    "record_scalar",
    "register_event_duration_secs_listener",
    "register_event_listener",
    "register_event_time_span_listener",
    "register_scalar_listener",
    "unregister_event_duration_listener",
    "unregister_event_listener",
    "unregister_event_time_span_listener",
    "unregister_scalar_listener",
]

Listener = Callable[..., None]

_listeners: defaultdict[str, list[Listener]] = defaultdict(list)


def _tell(kind: str, *told: Any, **kwargs: Any) -> None:
    for listener in _listeners[kind]:
        listener(*told, **kwargs)


def clear_event_listeners() -> None:
    """Have nobody listen any more."""
    _listeners.clear()


def register_event_listener(callback: Listener) -> None:
    """Have a function called with the name of each event, and what it is told."""
    _listeners["event"].append(callback)


def unregister_event_listener(callback: Listener) -> None:
    """Call it no more; ValueError if it does not listen."""
    _listeners["event"].remove(callback)


def record_event(event: str, **kwargs: Any) -> None:
    """Tell of an event.

    >>> seen = []
    >>> register_event_listener(lambda name, **_: seen.append(name))
    >>> record_event("/saved"); clear_event_listeners(); seen
    ['/saved']
    """
    _tell("event", event, **kwargs)


def register_event_duration_secs_listener(callback: Listener) -> None:
    """Have a function called with the name of each event that lasts, and its time."""
    _listeners["duration"].append(callback)


def unregister_event_duration_listener(callback: Listener) -> None:
    """Call it no more; ValueError if it does not listen."""
    _listeners["duration"].remove(callback)


def record_event_duration_secs(event: str, duration: float, **kwargs: Any) -> None:
    """Tell of an event that has lasted so many seconds."""
    _tell("duration", event, duration, **kwargs)


def register_event_time_span_listener(callback: Listener) -> None:
    """Have a function called with an event's name, its beginning, and its end."""
    _listeners["span"].append(callback)


def unregister_event_time_span_listener(callback: Listener) -> None:
    """Call it no more; ValueError if it does not listen."""
    _listeners["span"].remove(callback)


def record_event_time_span(
    event: str, start_time: float, end_time: float, **kwargs: Any
) -> None:
    """Tell of an event that has lasted from one time to another."""
    _tell("span", event, start_time, end_time, **kwargs)


def register_scalar_listener(callback: Listener) -> None:
    """Have a function called with the name of each number that is told, and it."""
    _listeners["scalar"].append(callback)


def unregister_scalar_listener(callback: Listener) -> None:
    """Call it no more; ValueError if it does not listen."""
    _listeners["scalar"].remove(callback)


def record_scalar(event: str, value: float, **kwargs: Any) -> None:
    """Tell of a number.

    >>> seen = []
    >>> register_scalar_listener(lambda name, value, **_: seen.append((name, value)))
    >>> record_scalar("/loss", 0.5); clear_event_listeners(); seen
    [('/loss', 0.5)]
    """
    _tell("scalar", event, value, **kwargs)
