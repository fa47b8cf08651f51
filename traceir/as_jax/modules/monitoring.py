"""Events, and who listens to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "clear_event_listeners",
    "record_event",
    "record_event_duration_secs",
    "register_event_duration_secs_listener",
    "register_event_listener",
]

_listeners: list[Callable[..., None]] = []
_duration_listeners: list[Callable[..., None]] = []


def register_event_listener(callback: Callable[..., None]) -> None:
    """Have a function called with the name of each event, and what it is told."""
    _listeners.append(callback)


def register_event_duration_secs_listener(callback: Callable[..., None]) -> None:
    """Have a function called with the name of each event that lasts, and its time."""
    _duration_listeners.append(callback)


def clear_event_listeners() -> None:
    """Have nobody listen any more."""
    _listeners.clear()
    _duration_listeners.clear()


def record_event(event: str, **kwargs: Any) -> None:
    """Tell of an event.

    >>> seen = []
    >>> register_event_listener(lambda name, **_: seen.append(name))
    >>> record_event("/saved"); clear_event_listeners(); seen
    ['/saved']
    """
    for listener in _listeners:
        listener(event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: Any) -> None:
    """Tell of an event that has lasted so many seconds."""
    for listener in _duration_listeners:
        listener(event, duration, **kwargs)
