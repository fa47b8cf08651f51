"""Files whose lines are no user's."""

from types import FrameType

from traceir.base.source_info import is_users_code, register_exclusion

__all__ = ["register_exclusion"]


def include_frame(frame: FrameType) -> bool:
    """True if a frame's code is the user's, no library's that has excluded itself."""
    return is_users_code(frame.f_code.co_filename)
