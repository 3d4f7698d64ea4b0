"""Whether sensors and schedules run from the start: in the environment that is meant to fetch and to send alerts."""

from __future__ import annotations

import warnings

import dagster as dg

from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError


def _is_on() -> bool:
    """The setting WEBRAG_AUTOMATION. With settings that cannot be read nothing starts by itself."""
    try:
        return load_settings().webrag_automation
    except InvalidInputError as error:  # every run says so, too
        warnings.warn(f"sensors and schedules wait to be switched on: {error.message}", stacklevel=2)
        return False


SENSORS = dg.DefaultSensorStatus.RUNNING if _is_on() else dg.DefaultSensorStatus.STOPPED
SCHEDULES = dg.DefaultScheduleStatus.RUNNING if _is_on() else dg.DefaultScheduleStatus.STOPPED
"""Status of a sensor and of a schedule that nobody has switched in the UI."""
