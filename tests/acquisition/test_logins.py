"""Log-ins of sites: sent to their host alone, and told nowhere; a session that ended is a failure and no page."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from tests.acquisition.local_server import Page, Site, redirect, reply, resolver, serving
from tests.self_signed import self_signed
from webrag_core.acquisition.firecrawl.acquirer import FirecrawlAcquirer
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.acquisition.http import HttpAcquirer
from webrag_core.acquisition.logins import read_logins
from webrag_core.acquisition.robots import ObedientGate, Robots
from webrag_core.config import Settings, load_settings
from webrag_core.errors import FetchError, InvalidInputError, Reason

T = TypeVar("T")

TOKEN, SESSION = "Bearer tk-51c0ffee4you", "s3ssion-0f-alice"
TEXT = reply(b"<h1>Rota</h1><p>The night shift begins at ten.</p>", "content-type: text/html")
FORM = b"<h1>Welcome</h1><form method=post><input name=u><input type='password' name=p><button>Go</button></form>"


def entry(**more: object) -> dict[str, object]:
    return {"headers": {"Authorization": TOKEN}, "cookies": {"sid": SESSION}, **more}


def given(*sites: Site, logins: dict[str, object], **more: object) -> Settings:
    hosts = ",".join(f"{name}:{site.port}" for site in sites for name in ("127.0.0.1", "wiki.test", "evil.test"))
    return load_settings(webrag_allow_hosts=hosts, webrag_logins=json.dumps(logins), **more)


def acquirer(settings: Settings) -> HttpAcquirer:
    names = resolver({"wiki.test": ["127.0.0.1"], "evil.test": ["127.0.0.1"]})
    rules = Robots(NetworkGate(settings, resolver=names), settings.webrag_user_agent)
    return HttpAcquirer(ObedientGate(settings, rules, resolver=names), robots=rules)


def run(pages: dict[str, Page], work: Callable[[Site, HttpAcquirer], Awaitable[T]], **more: object) -> tuple[T, Site]:
    """`work` with a site whose log-in for wiki.test, over plain HTTP, is known."""

    async def body() -> tuple[T, Site]:
        async with serving({"/robots.txt": reply(status="404 No"), **pages}) as site:
            settings = given(site, logins={f"wiki.test:{site.port}": entry(plain_http=True, **more)})
            return await work(site, acquirer(settings)), site

    return asyncio.run(body())


def sent(site: Site) -> list[tuple[str, str | None, str | None]]:
    return [(path, asked.get("authorization"), asked.get("cookie")) for path, asked in site.requests]


def secretless(*texts: str) -> bool:
    return not any(secret in text for text in texts for secret in (TOKEN.split()[1], SESSION))


def test_a_log_in_goes_to_its_host_with_robots_txt_and_site_maps() -> None:
    async def work(site: Site, http: HttpAcquirer) -> str:
        site.pages["/robots.txt"] = reply(f"Sitemap: http://wiki.test:{site.port}/sitemap.xml".encode())
        page = await http.fetch(f"http://wiki.test:{site.port}/")
        await http.site_map(page.final_url, html="", brief=True)
        return repr(page)

    shown, site = run({"/": TEXT, "/sitemap.xml": reply(status="404 No")}, work)
    assert {"/robots.txt", "/", "/sitemap.xml"} <= {path for path, *_ in sent(site)}
    assert {tuple(values) for _, *values in sent(site)} == {(TOKEN.lower(), f"sid={SESSION}")}
    assert secretless(shown)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1"])
def test_a_redirect_to_another_host_carries_nothing(status: str, host: str) -> None:
    async def work(site: Site, http: HttpAcquirer) -> None:
        site.pages["/"] = redirect(f"http://{host}:{site.port}/elsewhere", status)
        await http.fetch(f"http://wiki.test:{site.port}/")

    _, site = run({"/elsewhere": TEXT}, work)
    asked = {path: values for path, *values in sent(site)}
    assert asked["/"] == [TOKEN.lower(), f"sid={SESSION}"]
    assert asked["/elsewhere"] == [None, None]


def test_a_page_that_leads_elsewhere_by_itself_carries_nothing() -> None:
    async def work(site: Site, http: HttpAcquirer) -> None:
        stub = f"<meta http-equiv=refresh content='0;url=http://evil.test:{site.port}/elsewhere'>"
        site.pages["/"] = reply(stub.encode(), "content-type: text/html")
        await http.fetch(f"http://wiki.test:{site.port}/")

    _, site = run({"/elsewhere": TEXT}, work)
    assert {path: values for path, *values in sent(site)}["/elsewhere"] == [None, None]


def test_another_port_another_name_and_plain_http_carry_nothing() -> None:
    async def body() -> None:
        async with serving({"/": TEXT}) as site, serving({"/": TEXT}) as other:
            logins = {f"wiki.test:{site.port}": entry(), "wiki.test": entry(plain_http=True)}
            settings = given(site, other, logins=logins, webrag_obey_robots=False)
            http = HttpAcquirer(NetworkGate(settings, resolver=resolver({"wiki.test": ["127.0.0.1"]})))
            await http.fetch(f"http://wiki.test:{site.port}/")  # the log-in is for https
            await http.fetch(f"http://wiki.test:{other.port}/")
            await http.fetch(f"http://127.0.0.1:{site.port}/")
            assert {tuple(values) for where in (site, other) for _, *values in sent(where)} == {(None, None)}

    asyncio.run(body())


def test_loopback_needs_no_leave_for_plain_http() -> None:
    async def body() -> None:
        async with serving({"/": TEXT}) as site:
            http = HttpAcquirer(NetworkGate(given(site, logins={f"127.0.0.1:{site.port}": entry()})))
            await http.fetch(f"http://127.0.0.1:{site.port}/")
            assert sent(site) == [("/", TOKEN.lower(), f"sid={SESSION}")]

    asyncio.run(body())


def test_a_rotated_cookie_replaces_the_given_one_within_the_chain() -> None:
    async def work(site: Site, http: HttpAcquirer) -> dict[str, str]:
        return dict((await http.fetch(f"http://wiki.test:{site.port}/")).headers)

    first = reply(b"", "set-cookie: sid=fresh-session-value", "location: /rota", status="302 Found")
    final = TEXT.replace(b"content-type", b"set-cookie: sid=later-session-value\r\ncontent-type")
    headers, site = run({"/": first, "/rota": final}, work)
    assert sent(site)[-1] == ("/rota", TOKEN.lower(), "sid=fresh-session-value")
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "pages",
    [
        {"/page": reply(b"no", status="401 Unauthorized")},
        {"/page": reply(b"no", status="403 Forbidden")},
        {"/page": redirect("/login?next=%2Fpage"), "/login?next=%2Fpage": TEXT},
        {"/page": redirect("/users/sign_in"), "/users/sign_in": TEXT},
        {"/page": redirect("/wp-login.php"), "/wp-login.php": TEXT},
        {"/page": redirect("/oauth2/authorize"), "/oauth2/authorize": TEXT},
        {"/page": reply(FORM, "content-type: text/html")},
        {"/page": reply(b"<INPUT id=p TYPE=password>" + FORM, "content-type: text/html")},
    ],
)
def test_a_session_that_ended_is_a_failure(pages: dict[str, Page], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def work(site: Site, http: HttpAcquirer) -> FetchError:
        with pytest.raises(FetchError) as caught:
            await http.fetch(f"http://wiki.test:{site.port}/page")
        return caught.value

    error, site = run(pages, work)
    assert error.reason is Reason.SESSION_ENDED
    assert f"wiki.test:{site.port}" in error.message
    assert not error.transient
    assert secretless(error.message, "".join(traceback.format_exception(error)), caplog.text)


@pytest.mark.parametrize(
    "body",
    [
        b"<h1>Accounts</h1><input type=password>" + b"<p>How the rota of the ward is planned each week.</p>" * 40,
        b"<h1>How to log in</h1><p>Type the password into the field.</p>",
    ],
)
def test_a_page_about_logging_in_is_a_page(body: bytes) -> None:
    async def work(site: Site, http: HttpAcquirer) -> int:
        return (await http.fetch(f"http://wiki.test:{site.port}/page")).status

    assert run({"/page": reply(body, "content-type: text/html")}, work)[0] == 200


def test_other_sites_keep_their_own_reasons() -> None:
    async def work(site: Site, http: HttpAcquirer) -> Reason:
        with pytest.raises(FetchError) as caught:
            await http.fetch(f"http://evil.test:{site.port}/page")
        return caught.value.reason

    assert run({"/page": reply(b"no", status="403 No")}, work)[0] is Reason.HTTP_STATUS


@pytest.mark.parametrize("secret", [TOKEN, TOKEN.split()[1], SESSION])
@pytest.mark.parametrize("host", ["wiki.test", "evil.test"])
def test_an_answer_that_repeats_a_secret_is_refused(secret: str, host: str) -> None:
    async def work(site: Site, http: HttpAcquirer) -> FetchError:
        with pytest.raises(FetchError) as caught:
            await http.fetch(f"http://{host}:{site.port}/echo")
        return caught.value

    error, _ = run({"/echo": reply(f"<p>You sent {secret} to us.</p>".encode(), "content-type: text/html")}, work)
    assert error.reason is Reason.BAD_RESPONSE
    assert secretless(error.message)


def test_a_page_that_is_rendered_uses_the_log_in_of_its_own_origin_alone() -> None:
    async def work(site: Site, http: HttpAcquirer) -> None:
        own, other = f"http://wiki.test:{site.port}", f"http://evil.test:{site.port}"
        await http.resource(f"{own}/data?own", {}, f"{own}/page")
        await http.resource(f"{own}/data?foreign", {}, f"{other}/page")
        await http.resource(f"{other}/data?other", {}, f"{own}/page")

    pages: dict[str, Page] = {f"/data?{name}": TEXT for name in ("own", "foreign", "other")}
    _, site = run(pages, work)
    known = {path: values[0] for path, *values in sent(site) if path.startswith("/data")}
    assert known == {"/data?own": TOKEN.lower(), "/data?foreign": None, "/data?other": None}


def test_firecrawl_never_gets_a_page_of_such_a_site() -> None:
    settings = load_settings(firecrawl_api_url="http://127.0.0.1:9", webrag_logins=json.dumps({"wiki.test": entry()}))
    gate = NetworkGate(settings, resolver=resolver({"wiki.test": ["93.184.216.34"]}))
    with pytest.raises(FetchError) as caught:
        asyncio.run(FirecrawlAcquirer(settings, gate).fetch("https://wiki.test/page"))
    assert caught.value.reason is Reason.PROVIDER_FAILED  # so that the page is fetched directly
    assert "log-in" in caught.value.message


def test_a_client_certificate_is_shown_to_its_host(tmp_path: Path) -> None:
    for name in ("site", "client"):
        (tmp_path / name).mkdir()
    site_files = self_signed(tmp_path / "site", "wiki.test")
    client_files = self_signed(tmp_path / "client", "client.test")

    async def body() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*site_files)
        context.load_verify_locations(client_files[0])
        context.verify_mode = ssl.CERT_REQUIRED
        async with serving({"/": TEXT}, context) as site:
            shown = {"authority": str(site_files[0]), "certificate": str(client_files[0]), "key": str(client_files[1])}
            for files, reason in ((shown, None), ({"authority": str(site_files[0])}, Reason.TLS_FAILURE)):
                settings = given(site, logins={f"wiki.test:{site.port}": files})
                gate = NetworkGate(settings, resolver=resolver({"wiki.test": ["127.0.0.1"]}))
                try:
                    answer = await gate.get(f"https://wiki.test:{site.port}/")
                    assert (answer.status, reason) == (200, None)
                except FetchError as error:
                    assert error.reason in (reason, Reason.BAD_RESPONSE)  # noqa: PT017 - TLS 1.3 says so after its end

    asyncio.run(body())


LOGINS = f"""
["wiki.test"]
headers = {{ Authorization = "{TOKEN}" }}
cookies = {{ sid = "env:WIKI_SESSION" }}
["rota.test:8443"]
headers = {{ X-Key = "k" }}
"""


def logins_file(folder: Path, text: str = LOGINS, mode: int = 0o600) -> Path:
    file = folder / "logins.toml"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_a_file_names_hosts_and_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIKI_SESSION", SESSION)
    settings = load_settings(webrag_logins=str(logins_file(tmp_path)))
    logins = read_logins(settings)
    login = logins.of("https://wiki.test/page")
    assert login is not None
    assert (login.headers, login.cookies) == ({"authorization": TOKEN}, {"sid": SESSION})
    assert logins.of("https://rota.test:8443/") is not None
    for url in ("http://wiki.test/", "https://rota.test/", "https://www.wiki.test/", "https://wiki.test:8443/"):
        assert logins.of(url) is None
    assert secretless(repr(login), repr(logins), repr(settings), str(settings.model_dump()))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(InvalidInputError, match="chmod 600"):
        read_logins(load_settings(webrag_logins=str(logins_file(tmp_path, mode=mode))))


def test_a_file_in_the_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="lies in the corpus"):
        read_logins(load_settings(webrag_home=tmp_path, webrag_logins=str(logins_file(tmp_path))))


@pytest.mark.parametrize(
    "text",
    [
        "logins.toml",
        "/nowhere/logins.toml",
        "{",
        json.dumps({"wiki.test": {"headers": {"Cookie": SESSION}}}),
        json.dumps({"wiki.test": {"headers": {"Host": SESSION}}}),
        json.dumps({"wiki.test": {"headers": {"X": f"{SESSION}\r\nY: z"}}}),
        json.dumps({"wiki.test": {"cookies": {"sid": f"{SESSION}; a=b"}}}),
        json.dumps({"wiki.test": {"cookies": {"sid": [SESSION]}}}),
        json.dumps({"wiki.test": {"token": SESSION}}),
        json.dumps({"wiki.test": SESSION}),
        json.dumps({"wiki.test": {"headers": {"X": "env:NO_SUCH_VARIABLE"}}}),
        json.dumps({"wiki.test": {"key": "/key.pem"}}),
        json.dumps({"wiki.test/path": entry()}),
        json.dumps({"https://wiki.test": entry()}),
        json.dumps({"wiki.test": entry(plain_http="yes")}),
    ],
)
def test_what_cannot_be_used_is_said_without_values(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        NetworkGate(load_settings(webrag_logins=text))
    assert "WEBRAG_LOGINS" in caught.value.message
    assert secretless("".join(traceback.format_exception(caught.value)))


def test_a_certificate_that_cannot_be_loaded_is_said(tmp_path: Path) -> None:
    text = json.dumps({"wiki.test": {"certificate": str(tmp_path / "none.pem")}})
    with pytest.raises(InvalidInputError, match="cannot be loaded"):
        NetworkGate(load_settings(webrag_logins=text))
