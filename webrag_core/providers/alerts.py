"""One short message to the operator, to the webhook and the mailboxes that the settings name.

No other address is ever asked: none from a page, a question or a run. Errors name the setting, never its value.
"""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import SecretStr

from webrag_core.config.alerts import AlertSettings
from webrag_core.page_text import one_line
from webrag_core.providers.endpoint import mail_trust, trust_store

_SECONDS = 10.0
_TRIES = 2
_PORTS = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class Alert:
    """What happened: `kind` for programs, `title` and `text` for people. Our own words, names of jobs and sources."""

    kind: str
    title: str
    text: str


async def send_alert(settings: AlertSettings, alert: Alert) -> list[str]:
    """Send `alert` to what is set, and return what went wrong, a line for each."""
    problems = []
    if settings.alert_webhook is not None and (problem := await _post(settings.alert_webhook, alert)):
        problems.append(f"ALERT_WEBHOOK: {problem}")
    if settings.alert_email and settings.alert_smtp is not None:
        try:
            await asyncio.to_thread(_mail, settings.alert_smtp, settings.alert_email, settings.alert_sender, alert)
        except (OSError, smtplib.SMTPException) as error:
            problems.append(f"ALERT_SMTP: {type(error).__name__}")
    return problems


async def _post(webhook: SecretStr, alert: Alert) -> str | None:
    """POST the alert as JSON; None when the server took it. `text` alone is what chat services show."""
    import httpx2

    body = {**asdict(alert), "text": f"{alert.title}\n{alert.text}", "at": datetime.now(UTC).isoformat()}
    problem: str | None = None
    async with httpx2.AsyncClient(
        timeout=_SECONDS, follow_redirects=False, trust_env=False, verify=trust_store("httpx2")
    ) as client:
        for _ in range(_TRIES):
            try:
                answer = await client.post(webhook.get_secret_value(), json=body)
            except httpx2.HTTPError as error:
                problem = type(error).__name__
                continue
            if answer.is_success:
                return None
            problem = f"HTTP {answer.status_code}"
            if answer.status_code < 500:
                break
    return problem


def _mail(server: SecretStr, recipients: str, sender: str | None, alert: Alert) -> None:
    """Send a mail. Over `smtp` the connection is encrypted where a password is sent, or the server offers it.

    Raises OSError (ssl.SSLError for a certificate that is not trusted) and smtplib.SMTPException.
    """
    message = EmailMessage()
    message["Subject"] = one_line(alert.title)
    message["To"] = recipients
    message["From"] = sender or recipients.split(",")[0].strip()
    message.set_content(alert.text)
    parts = urlsplit(server.get_secret_value())
    must_encrypt = parts.scheme == "smtps" or bool(parts.password)
    try:
        _deliver(parts, message, encrypted=True)
    except ssl.SSLError:
        if must_encrypt:
            raise
        _deliver(parts, message, encrypted=False)  # whoever can forge a certificate could have hidden the offer, too


def _deliver(parts: SplitResult, message: EmailMessage, *, encrypted: bool) -> None:
    """Hand the mail to the server of `parts`; `encrypted`: over `smtp`, too, where it is needed or offered."""
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    if parts.scheme == "smtps":
        opened: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=mail_trust())
    else:
        opened = smtplib.SMTP(host, port, timeout=_SECONDS)
    with opened as connection:
        connection.ehlo_or_helo_if_needed()  # the offers of a server are known from its answer
        if parts.scheme == "smtp" and encrypted and (parts.password or connection.has_extn("starttls")):
            connection.starttls(context=mail_trust())
        if parts.username and parts.password:
            connection.login(unquote(parts.username), unquote(parts.password))
        connection.send_message(message)
