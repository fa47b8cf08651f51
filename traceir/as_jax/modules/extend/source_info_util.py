"""Files whose lines are no user's."""

from traceir.base.source_info import register_exclusion

__all__ = ["register_exclusion"]
