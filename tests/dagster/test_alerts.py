"""Alerts reach the webhook and the mailbox of the settings, once, without a secret; unset, nothing is sent."""

from __future__ import annotations

import asyncio
import ssl
import time
from base64 import b64encode
from datetime import timedelta
from pathlib import Path
from typing import Literal

import dagster as dg
import pytest

from tests.mail_server import mail_server
from tests.provider_server import Reply, serving
from tests.self_signed import self_signed
from webrag_core.config import load_settings
from webrag_core.errors import InvalidInputError
from webrag_core.providers.alerts import Alert, send_alert
from webrag_core.providers.endpoint import mail_trust
from webrag_dagster.defs.alerts import alert_on_failed_runs, alert_on_staleness
from webrag_dagster.resources import CorpusResource

SECRET = "hook-5ecret"


@dg.op
def breaks() -> None:
    """Fails with what no alert may repeat."""
    raise dg.Failure(f"https://site.example/?key={SECRET}", allow_retries=False)


@dg.job(tags={"webrag/stop_reason": "not_found", "webrag/question": f"is {SECRET} safe?"})
def nightly() -> None:
    """One op."""
    breaks()


@pytest.mark.slow
def test_a_failed_run_is_told_to_the_webhook_without_what_it_said(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = nightly.execute_in_process(instance=instance, raise_on_error=False)
    context = dg.build_run_status_sensor_context(
        sensor_name="alert_on_failed_runs",
        dagster_event=done.get_run_failure_event(),
        dagster_instance=instance,
        dagster_run=done.dagster_run,
        resources={"corpus": CorpusResource()},
    ).for_run_failure()
    with serving({}) as server:
        alert_on_failed_runs(context)
        assert server.calls == []
        monkeypatch.setenv("ALERT_WEBHOOK", f"{server.url}/hooks/{SECRET}")
        server.script = [Reply({}, status=503)]
        alert_on_failed_runs(context)
    failed, sent = server.calls
    assert failed.body["title"] == sent.body["title"] == "WebRAG: run of job nightly failed"
    assert sent.path == f"/hooks/{SECRET}"
    assert sent.body["text"] == f"{sent.body['title']}\nrun: /runs/{done.run_id}\nreason: not_found"
    assert SECRET not in str(sent.body)


def test_a_source_that_is_no_longer_fresh_is_told_of_once(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dagster._core.definitions.freshness import FreshnessState, FreshnessStateChange

    policy = dg.FreshnessPolicy.time_window(fail_window=timedelta(minutes=3))
    specs = [dg.AssetSpec(["sources", name], freshness_policy=policy) for name in ("tea", "coffee")]
    repository = dg.Definitions(assets=specs)

    def tick(cursor: str | None) -> str | None:
        with dg.build_sensor_context(instance=instance, definitions=repository, cursor=cursor) as context:
            result = alert_on_staleness(context, corpus=CorpusResource())
            return result.cursor if isinstance(result, dg.SensorResult) else None

    with serving({}) as server:
        assert tick(None) is None
        monkeypatch.setenv("ALERT_WEBHOOK", server.url)
        for state in (FreshnessState.PASS, FreshnessState.FAIL):
            instance._report_runless_asset_event(
                FreshnessStateChange(
                    key=dg.AssetKey(["sources", "tea"]),
                    previous_state=FreshnessState.UNKNOWN,
                    new_state=state,
                    state_change_timestamp=time.time(),
                )
            )
            cursor = tick(None)
        tick(cursor)
    assert [(call.body["kind"], call.body["text"].split("\n")[1]) for call in server.calls] == [
        ("not_fresh", "/assets/sources/tea")
    ]


def test_a_mail_goes_to_the_server_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    alert = Alert("run_failed", "WebRAG: run of\njob x failed", "run: /runs/1")
    with mail_server() as server:
        settings = load_settings(
            alert_email="ops@example.org, night@example.org", alert_smtp=f"smtp://127.0.0.1:{server.port}"
        )
        assert asyncio.run(send_alert(settings, alert)) == []
    [mail] = server.mails
    assert "Subject: WebRAG: run of job x failed" in mail
    assert "To: ops@example.org, night@example.org" in mail
    assert asyncio.run(send_alert(settings, alert)) == ["ALERT_SMTP: ConnectionRefusedError"]


@pytest.fixture(scope="module")
def unknown(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """How a server speaks TLS whose certificate nobody vouches for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed(tmp_path_factory.mktemp("tls"), "somebody-else.example"))
    return context


@pytest.mark.parametrize(("scheme", "begins"), [("smtps", "at once"), ("smtp", "when asked")])
def test_a_server_whose_certificate_is_not_trusted_gets_no_password_and_no_mail(
    scheme: str, begins: Literal["at once", "when asked"], unknown: ssl.SSLContext
) -> None:
    alert = Alert("run_failed", "WebRAG: run of job x failed", "run: /runs/1")
    with mail_server(unknown, begins=begins) as server:
        settings = load_settings(
            alert_email="ops@example.org", alert_smtp=f"{scheme}://user:{SECRET}@127.0.0.1:{server.port}"
        )
        assert asyncio.run(send_alert(settings, alert)) == ["ALERT_SMTP: SSLCertVerificationError"]
    assert server.mails == []
    assert {line.split()[0] for line in server.lines} <= {"ehlo", "STARTTLS"}


def test_a_server_with_a_trusted_certificate_gets_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    certificate, key = self_signed(tmp_path, "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    mail_trust.cache_clear()
    request.addfinalizer(mail_trust.cache_clear)
    with mail_server(context, begins="when asked") as server:
        settings = load_settings(
            alert_email="ops@example.org", alert_smtp=f"smtp://user:{SECRET}@localhost:{server.port}"
        )
        assert asyncio.run(send_alert(settings, Alert("run_failed", "title", "text"))) == []
    assert [line.split()[0] for line in server.lines].index("STARTTLS") < server.lines.index(
        f"AUTH PLAIN {b64encode(f'{chr(0)}user{chr(0)}{SECRET}'.encode()).decode()}"
    )
    assert len(server.mails) == 1


def test_without_a_password_a_certificate_that_is_not_trusted_costs_no_alert(unknown: ssl.SSLContext) -> None:
    alert = Alert("run_failed", "WebRAG: run of job x failed", "run: /runs/1")
    with mail_server(unknown, begins="when asked") as server:
        settings = load_settings(alert_email="ops@example.org", alert_smtp=f"smtp://127.0.0.1:{server.port}")
        assert asyncio.run(send_alert(settings, alert)) == []
    assert len(server.mails) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"alert_webhook": f"file:///{SECRET}"},
        {"alert_email": "ops@example.org"},
        {"alert_email": "a\nb@example.org", "alert_smtp": "smtp://127.0.0.1"},
        {"alert_smtp": f"http://{SECRET}@mail.example.org"},
    ],
)
def test_unusable_settings_are_refused_without_their_value(wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_settings(**wrong)
    assert "ALERT_" in caught.value.message
    assert SECRET not in caught.value.message
