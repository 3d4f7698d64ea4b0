"""Who is told of failures."""

from __future__ import annotations

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator

from webrag_core.config.group import SettingsGroup
from webrag_core.config.values import Trimmed, TrimmedSecret


class AlertSettings(SettingsGroup):
    """Alerts."""

    alert_webhook: TrimmedSecret = Field(
        default=None, repr=False, description="Address that gets each alert as JSON, by POST; unset = none"
    )
    alert_email: Trimmed = Field(
        default=None,
        pattern=r"^[^\s@,]+@[^\s@,]+(, *[^\s@,]+@[^\s@,]+)*$",
        description="Addresses, separated by commas, that get each alert; needs ALERT_SMTP",
    )
    alert_sender: Trimmed = Field(
        default=None, pattern=r"^[^\s@,]+@[^\s@,]+$", description="Sender of these mails; unset = the first recipient"
    )
    alert_smtp: TrimmedSecret = Field(
        default=None, repr=False, description="Mail server, as smtps://user:password@mail.example.org or smtp://host:25"
    )
    alert_checks: Literal["warn", "error"] = Field(
        default="error", description="Least severity of asset checks that are told when they begin to fail"
    )
    alert_log: bool = Field(default=False, description="Whether alerts are lines in the logs of their sensors")

    @field_validator("alert_webhook", "alert_smtp")
    @classmethod
    def _an_address(cls, address: SecretStr | None, info: ValidationInfo) -> SecretStr | None:
        if address is not None:
            schemes = ("http", "https") if info.field_name == "alert_webhook" else ("smtp", "smtps")
            try:
                parts = urlsplit(address.get_secret_value())
                usable = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
            except ValueError:
                usable = False
            if not usable:
                raise ValueError(f"is no address that begins with {schemes[0]}:// or {schemes[1]}://")
        return address

    @model_validator(mode="after")
    def _mail_has_a_server(self) -> Self:
        if self.alert_email is not None and self.alert_smtp is None:
            raise ValueError("ALERT_EMAIL needs ALERT_SMTP, the server that sends the mail")
        return self

    @property
    def alerts_somewhere(self) -> bool:
        """Whether any alert would reach anybody."""
        return self.alert_webhook is not None or self.alert_email is not None or self.alert_log
