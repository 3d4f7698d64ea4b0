"""Regular expressions that are compiled when they are first used: a process that starts uses few of its hundreds."""

from __future__ import annotations

import re
from typing import Any, cast


class _LatePattern:
    """Stands for a pattern: whatever is asked of it is the pattern's, and from then on its own attribute."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._chosen_flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # as copying asks for them, of an object without attributes
            raise AttributeError(name)
        value = getattr(re.compile(self.pattern, self._chosen_flags), name)
        setattr(self, name, value)
        return value


def late_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, for a pattern of a module that a starting process may not need; what is wrong with it is raised
    by its first use. Only its methods and attributes work, not the functions of `re`."""
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))
