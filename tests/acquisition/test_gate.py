"""The gate against a local server that misbehaves. Names come from an injected resolver; the rest is real."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import threading
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.acquisition.local_server import Page, gate_to, redirect, reply, resolver, serving
from tests.self_signed import self_signed
from webrag_core.acquisition.gate import GateResponse, NetworkGate, Target
from webrag_core.config import load_settings
from webrag_core.errors import FetchError, InvalidInputError, Reason


def fetch(page: Page, timeout_s: float = 300.0) -> GateResponse:
    """What the gate makes of one page at `/`."""

    async def run() -> GateResponse:
        async with serving({"/": page}) as site:
            gate = gate_to(f"127.0.0.1:{site.port}", webrag_fetch_timeout=timeout_s)
            return await gate.get(f"http://127.0.0.1:{site.port}/")

    return asyncio.run(run())


def refusal(page: Page, timeout_s: float = 300.0) -> Reason:
    with pytest.raises(FetchError) as caught:
        fetch(page, timeout_s)
    assert "127.0.0.1" not in caught.value.message
    return caught.value.reason


SSRF = {
    Reason.BLOCKED_ADDRESS: """
        http://127.0.0.1/ http://2130706433/ http://127.1/ http://0177.0.0.1/ http://0x7f000001/ http://0/
        http://127.0.0.1./ http://①②⑦.0.0.1/ http://%31%32%37.1/ http://[::1]/ http://[::]/ http://[fe80::1]/
        http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[2002:7f00:1::]/ http://[2001::1]/
        http://[64:ff9b::7f00:1]/ http://[fd00:ec2::254]/ http://169.254.169.254/latest/ http://168.63.129.16/
        https://10.0.0.1/ http://192.168.1.1:443/ http://localhost/ http://LOCALHOST./ http://a.localhost/
        http://mixed.test/ http://mapped.test/ http://link.test/
        http://127.0.1/ http://017700000001/ http://0x7f.0x0.0x0.0x1/ http://4294967295/ http://0xa9fea9fe/ http://0:80/
        http://127。0。0。1/ http://１２７.0.0.1/ http://127.0.0\u200b.1/ http://127.0.0\u00ad.1/ http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/
        http://%6c%6fcalhost/ http://%31%36%39.254.169.254/ http://127%2E0%2E0%2E1/ http://127.0.0.1.:80/ http://127.1.:80/
        http://127.0.0.1:00080/ http://127.0.0.1:/ http://127.0.0.1?@public.test/ http://127.0.0.1#@public.test/
        http://127.0.0.1\\@public.test/ http:\\\\127.0.0.1\\ http:/127.0.0.1/ http:127.0.0.1 http:////127.0.0.1/
        http://[::127.0.0.1]/ http://[::ffff:10.0.0.1]:443/ http://[0:0:0:0:0:ffff:a9fe:a9fe]/ http://[::ffff:0:7f00:1]/
        http://[64:ff9b:1::7f00:1]/ http://[64:ff9b::169.254.169.254]/ http://[2001:0:7f00:1::]/ http://[fec0::1]/
        http://[fd20:ce::254]/ http://[ff02::1]/ http://[2a00::5efe:127.0.0.1]/ http://[100::1]/ http://[2001:db8::1]/
        http://alias.test/ http://nat64.test/ http://sixtofour.test/ http://public.test:0/ http://public.test:65535/
        http://public.test:8080/ http://public.test:22/ http://8.8.8.8:53/ http://127.0.0.1:6379/
    """,
    Reason.DNS_FAILURE: "http://unknown.test/ http://empty.test/ http://odd.test/",
    Reason.INVALID_URL: """
        http://user@public.test/ http://:p@public.test/ http://public.test:x/ http://a..b/ http://1.2.3.4.5/
        ftp://public.test/ file:///etc/passwd gopher://127.0.0.1/ http://[::1%25lo]/ http:// localhost
        http://public.test:80@127.0.0.1/ http://public.test%40127.0.0.1/ http://public.test%2f@127.0.0.1/ http://%00/
        http://127.0.0.1%00.public.test/ http://public.test%0d%0a/ http://[::1/ http://[127.0.0.1]/ http://[::1]x/ http://[]/
        http://public.test:65536/ http://public.test:-1/ http://public.test:80:80/ http://256.1.1.1/ http://1.2.3.08/
        http://0x100000000/ http://%/ http:/// http://?/ //127.0.0.1/ dict://127.0.0.1:6379/ data:text/html,x
        http://127.0.0.1%20public.test/ http://public.test%23.evil/ http://[fe80::1%eth0]/ http://%5b::1%5d/
    """,
}
NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "a.localhost": ["127.0.0.1"],
    "public.test": ["93.184.215.14"],
    "mixed.test": ["93.184.215.14", "10.0.0.1"],
    "mapped.test": ["::ffff:10.0.0.1"],
    "link.test": ["fe80::1%eth0"],
    "alias.test": ["169.254.169.254"],  # what a CNAME to a private name comes to
    "nat64.test": ["64:ff9b::a00:1"],
    "sixtofour.test": ["2002:a00:1::1", "93.184.215.14"],
    "empty.test": [],
    "odd.test": ["not an address"],
}


@pytest.mark.parametrize(("url", "reason"), [(url, reason) for reason, urls in SSRF.items() for url in urls.split()])
def test_ssrf_table(url: str, reason: Reason) -> None:
    gate = gate_to(names=NAMES)
    with pytest.raises(FetchError) as caught:
        asyncio.run(gate.get(url))
    assert caught.value.reason is reason
    assert not any(part in caught.value.message for part in ("10.0.", "127.", "fe80", "93.184"))


def test_public_hosts_are_admitted_with_the_addresses_that_were_checked() -> None:
    async def run() -> tuple[Target, Target]:
        gate = gate_to(names={"public.test": ["2606:4700::1", "93.184.215.14", "93.184.215.14"]})
        return await gate.admit("HTTPS://Public.test.:443/a?utm_source=x#y"), await gate.admit("http://8.8.8.8/")

    named, literal = asyncio.run(run())
    assert (named.url, named.authority, named.port) == ("https://public.test/a", "public.test", 443)
    assert [str(address) for address in named.addresses] == ["2606:4700::1", "93.184.215.14"]
    assert [str(address) for address in literal.addresses] == ["8.8.8.8"]


def test_open_pair_opens_that_host_and_port_only() -> None:
    async def run() -> None:
        async with serving({"/": reply()}) as site, serving({"/": reply()}) as other:
            names = {"open.test": ["127.0.0.1"], "twin.test": ["127.0.0.1"]}
            gate = gate_to(f"OPEN.test:{site.port}", "[0:0::1]:80", names=names)
            assert (await gate.get(f"http://open.test:{site.port}/")).body == b"hello"
            assert site.requests[0][1]["host"] == f"open.test:{site.port}"
            assert (await gate.admit("http://[::1]/")).host == "::1"
            for url in (
                *(f"http://open.test:{other.port}/", f"http://twin.test:{site.port}/"),
                *(f"http://127.0.0.1:{site.port}/", "http://open.test/"),
            ):
                with pytest.raises(FetchError) as caught:
                    await gate.get(url)
                assert caught.value.reason is Reason.BLOCKED_ADDRESS
            assert (len(site.requests), len(other.requests)) == (1, 0)

    asyncio.run(run())


def test_a_name_is_looked_up_once_per_hop_and_dead_addresses_are_skipped() -> None:
    async def run() -> None:
        async with serving({"/": redirect("/b"), "/b": reply()}) as site:
            asked: list[str] = []
            answers = iter([["127.0.0.2", "127.0.0.1"], ["127.0.0.1"]])

            async def rebinding(host: str, port: int) -> Sequence[str]:
                asked.append(host)
                return next(answers)

            settings = load_settings(webrag_allow_hosts=f"name.test:{site.port}")
            answer = await NetworkGate(settings, resolver=rebinding).get(f"http://name.test:{site.port}/")
            assert answer.status == 200
            assert asked == ["name.test", "name.test"]

    asyncio.run(run())


def test_a_name_that_turns_private_is_refused_on_the_next_hop() -> None:
    async def run() -> None:
        async with serving({"/": redirect("http://turning.test/")}) as site:
            gate = gate_to(f"name.test:{site.port}", names={"name.test": ["127.0.0.1"], "turning.test": ["10.0.0.1"]})
            with pytest.raises(FetchError) as caught:
                await gate.get(f"http://name.test:{site.port}/")
            assert caught.value.reason is Reason.BLOCKED_ADDRESS

    asyncio.run(run())


def test_redirects_are_followed_and_recorded() -> None:
    async def run() -> None:
        pages = {
            "/a?x=%27|%27": redirect("b/c?utm_medium=1#frag", "301 Moved Permanently"),
            "/%C3%A9": reply(b"end", "X-A: 1", "x-a: 2"),
        }
        async with serving(pages) as site:
            site.pages["/b/c"] = redirect(f"//127.0.0.1:{site.port}/\xc3\xa9", "308 Permanent Redirect")
            home = f"http://127.0.0.1:{site.port}"
            answer = await gate_to(f"127.0.0.1:{site.port}").get(f"{home}/a?x='|'#top", {"If-None-Match": '"é"'})
            assert answer.redirects == (f"{home}/a?x=%27|%27", f"{home}/b/c")
            assert (answer.url, answer.final_url) == (answer.redirects[0], f"{home}/%C3%A9")
            assert (answer.body, answer.headers["x-a"], answer.downgraded) == (b"end", "1, 2", False)
            assert all(sent["if-none-match"] == '"é"' for _, sent in site.requests)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("/", Reason.TOO_MANY_REDIRECTS),
        ("http://169.254.169.254/", Reason.BLOCKED_ADDRESS),
        ("http://127.0.0.1:1/", Reason.BLOCKED_ADDRESS),
        ("http://[::1]/", Reason.BLOCKED_ADDRESS),
        ("file:///etc/passwd", Reason.INVALID_URL),
        ("http://user:pass@example.org/", Reason.INVALID_URL),
        ("http://a b/", Reason.INVALID_URL),
        ("//169.254.169.254/", Reason.BLOCKED_ADDRESS),
        ("/\\10.0.0.1/", Reason.BLOCKED_ADDRESS),
        ("\\\\[::1]\\", Reason.BLOCKED_ADDRESS),
        ("///2130706433/", Reason.BLOCKED_ADDRESS),
        ("ht\ttp://127.1/", Reason.BLOCKED_ADDRESS),
        ("javascript:alert(1)", Reason.INVALID_URL),
        ("data:text/html,words", Reason.INVALID_URL),
        ("/" + "a" * 9_000, Reason.INVALID_URL),
    ],
)
def test_redirects_meet_the_same_checks(location: str, reason: Reason) -> None:
    assert refusal(redirect(location)) is reason


def test_five_redirects_are_enough_and_six_too_many() -> None:
    async def run() -> None:
        async with serving({f"/{n}": redirect(f"/{n - 1}") for n in range(1, 7)} | {"/0": reply()}) as site:
            gate, home = gate_to(f"127.0.0.1:{site.port}"), f"http://127.0.0.1:{site.port}"
            assert len((await gate.get(f"{home}/5")).redirects) == 5
            with pytest.raises(FetchError) as caught:
                await gate.get(f"{home}/6")
            assert caught.value.reason is Reason.TOO_MANY_REDIRECTS

    asyncio.run(run())


async def drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
    for _ in range(1000):
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3_600)


async def interim_forever(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 102 Processing\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


async def interim_flood(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 102 Processing\r\n\r\n" * 1_000)
        await writer.drain()


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def reset(writer: asyncio.StreamWriter) -> None:
    writer.write(reply(b"part", length=1000))
    await writer.drain()
    writer.transport.abort()


def coded(body: bytes, codings: str) -> bytes:
    return reply(body, f"content-encoding: {codings}")


def zipped(body: bytes) -> bytes:
    return coded(body, "gzip")


def raw_deflate(body: bytes) -> bytes:
    return zlib.compress(body, wbits=-zlib.MAX_WBITS)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (drip, Reason.TIMEOUT),
        (silence, Reason.TIMEOUT),
        (interim_forever, Reason.TIMEOUT),
        (interim_flood, Reason.BAD_RESPONSE),
        (endless, Reason.TOO_LARGE),
        (reply(b"x" * 100_001), Reason.TOO_LARGE),
        (reply(b"", length=10**17), Reason.TOO_LARGE),
        (zipped(gzip.compress(bytes(50_000_000), mtime=0)), Reason.TOO_LARGE),
        (zipped(gzip.compress(b"", mtime=0) * 2_000), Reason.BAD_RESPONSE),
        (zipped(gzip.compress(b"hello world" * 99, mtime=0)[:-9]), Reason.BAD_RESPONSE),
        (zipped(b"not gzip"), Reason.BAD_RESPONSE),
        (coded(gzip.compress(gzip.compress(bytes(50_000_000), mtime=0), mtime=0), "gzip, gzip"), Reason.TOO_LARGE),
        (coded(zlib.compress(bytes(50_000_000)), "deflate"), Reason.TOO_LARGE),
        (coded(gzip.compress(zlib.compress(b"words" * 99), mtime=0)[:-12], "deflate, gzip"), Reason.BAD_RESPONSE),
        (coded(zlib.compress(b"hello world" * 99)[:-9], "deflate"), Reason.BAD_RESPONSE),
        (coded(b"hello", "deflate"), Reason.BAD_RESPONSE),
        (coded(b"hello", "gzip, gzip, gzip, gzip"), Reason.BAD_RESPONSE),
        (reply(b"x", "content-encoding: none, zstd"), Reason.BAD_RESPONSE),
        (reply(b"x", "content-encoding: br"), Reason.BAD_RESPONSE),
        (reply(b"short", length=50), Reason.BAD_RESPONSE),
        (reset, Reason.BAD_RESPONSE),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel", Reason.BAD_RESPONSE),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", Reason.BAD_RESPONSE),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc", Reason.BAD_RESPONSE),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", Reason.BAD_RESPONSE),
        (b"SSH-2.0-OpenSSH_9.6\r\n", Reason.BAD_RESPONSE),
        (b"\x16\x03\x01\x00\xff\x00\x00", Reason.BAD_RESPONSE),
        (b"", Reason.BAD_RESPONSE),
        (reply(b"", f"x: {'a' * 80_000}"), Reason.BAD_RESPONSE),
        (reply(b"", f"x: {'a' * 800_000}"), Reason.BAD_RESPONSE),
        (reply(b"", *(f"x{n}: 1" for n in range(300))), Reason.BAD_RESPONSE),
        (reply(b"", "location: /a", "location: /b", status="302 Found"), Reason.BAD_RESPONSE),
    ],
)
def test_misbehaving_servers(page: Page, reason: Reason) -> None:
    assert refusal(page, timeout_s=300.0 if reason is not Reason.TIMEOUT else 1.0) is reason


@pytest.mark.parametrize(
    "page",
    [
        reply(b"hello"),
        b"HTTP/1.1 200 OK\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 103 Early Hints\r\n\r\n" + reply(b"hello"),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        *(
            coded(b"hello", name)
            for name in ("identity", "none", "UTF-8", "8bit", "binary", "text/html", "", "identity, none")
        ),
        *(coded(gzip.compress(b"hello", mtime=0), name) for name in ("GZip", "x-gzip", "gzip, none", "utf-8, gzip")),
        *(
            coded(body, "deflate")
            for body in (zlib.compress(b"hello"), raw_deflate(b"hello"), gzip.compress(b"hello", mtime=0))
        ),
        coded(gzip.compress(gzip.compress(b"hello", mtime=0), mtime=0), "gzip, gzip"),
        coded(gzip.compress(zlib.compress(b"hello"), mtime=0), "deflate, gzip"),
        reply(gzip.compress(b"hello", mtime=0), "content-encoding: gzip", "content-encoding: gzip"),
        zipped(gzip.compress(b"hello", mtime=0)),
        zipped(gzip.compress(b"he", mtime=0) + gzip.compress(b"llo", mtime=0)),
        zipped(gzip.compress(b"hello", mtime=0) + b"\0\0padding"),
    ],
)
def test_legal_framings(page: bytes) -> None:
    assert fetch(page).body == b"hello"


def test_limits_are_inclusive_and_raw_bytes_are_counted() -> None:
    packed = gzip.compress(bytes(100_000), mtime=0)
    answer = fetch(zipped(packed))
    assert (len(answer.body), answer.bytes_raw) == (100_000, len(packed))
    assert fetch(reply(b"", "content-encoding: gzip", status="304 Not Modified", length=10**9)).body == b""
    assert fetch(reply(b"", status="302 Found")).status == 302


def test_a_closed_port_is_a_connect_failure() -> None:
    async def run() -> None:
        async with serving({}) as site:
            port = site.port
        with pytest.raises(FetchError) as caught:
            await gate_to(f"127.0.0.1:{port}").get(f"http://127.0.0.1:{port}/")
        assert caught.value.reason is Reason.CONNECT_FAILURE

    asyncio.run(run())


def test_a_slow_resolver_meets_the_deadline() -> None:
    async def slow(host: str, port: int) -> Sequence[str]:
        await asyncio.sleep(60)
        return []

    gate = NetworkGate(load_settings(webrag_fetch_timeout=0.1), resolver=slow)
    with pytest.raises(FetchError) as caught:
        asyncio.run(gate.get("http://slow.test/"))
    assert caught.value.reason is Reason.TIMEOUT


def test_name_servers_that_never_answer_leave_threads_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()

    def hang(host: str, *_: object, **__: object) -> list[object]:
        answered.wait(30)
        raise OSError("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", hang)

    async def run() -> list[FetchError]:
        gate = NetworkGate(load_settings(webrag_fetch_timeout=0.2))
        asked = [asyncio.create_task(gate.get(f"http://slow{number}.test/")) for number in range(60)]
        await asyncio.sleep(0.05)
        await asyncio.to_thread(lambda: "a thread is free")
        assert not answered.is_set()
        errors = await asyncio.gather(*asked, return_exceptions=True)
        answered.set()
        return [error for error in errors if isinstance(error, FetchError)]

    assert [error.reason for error in asyncio.run(run())] == [Reason.TIMEOUT] * 60


def test_an_answer_that_never_gets_to_its_body_ends_first() -> None:
    async def run() -> None:
        async def two_thirds(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.75)
            writer.write(reply())

        async with serving({"/": two_thirds}) as site:
            with pytest.raises(FetchError) as caught:
                await gate_to(f"127.0.0.1:{site.port}", webrag_fetch_timeout=0.9).get(f"http://127.0.0.1:{site.port}/")
            assert caught.value.reason is Reason.TIMEOUT

    asyncio.run(run())


def test_cancelling_a_fetch_is_not_turned_into_an_error() -> None:
    async def run() -> None:
        async with serving({"/": silence}) as site:
            task = asyncio.create_task(gate_to(f"127.0.0.1:{site.port}").get(f"http://127.0.0.1:{site.port}/"))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())


def test_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    async def run() -> None:
        async with serving({"/": redirect("/b"), "/b": reply()}) as site:
            gate = gate_to(f"127.0.0.1:{site.port}", webrag_user_agent="tester/1")
            await gate.get(f"http://127.0.0.1:{site.port}/", {"Accept-Encoding": "br", "Host": "evil.test"})
            assert [path for path, _ in site.requests] == ["/", "/b"]
            for _, sent in site.requests:
                assert sent == {
                    "user-agent": "tester/1",
                    "host": f"127.0.0.1:{site.port}",
                    "accept-encoding": "gzip, identity;q=0.5",
                    "connection": "close",
                }
            for header in ({"cookie": "a=b"}, {"x": "a\r\nb: c"}, {"x": "€"}, {"a b": "c"}):
                with pytest.raises(InvalidInputError):
                    await gate.get(f"http://127.0.0.1:{site.port}/", header)

    asyncio.run(run())


def test_inspecting_spares_the_body() -> None:
    def refuse(status: int, headers: Mapping[str, str]) -> None:
        raise FetchError(Reason.HTTP_STATUS, headers["content-length"], status=status)

    async def run() -> None:
        async with serving({"/": reply(b"", status="500 Oops", length=10**9)}) as site:
            with pytest.raises(FetchError, match="1000000000") as caught:
                await gate_to(f"127.0.0.1:{site.port}").get(f"http://127.0.0.1:{site.port}/", inspect=refuse)
            assert caught.value.status == 500

    asyncio.run(run())


def test_bad_settings_are_refused() -> None:
    for settings in ({"webrag_allow_hosts": "a b:80"}, {"webrag_user_agent": "a\nb"}):
        with pytest.raises(InvalidInputError):
            NetworkGate(load_settings(**settings))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for secure.test, and its key."""
    return self_signed(tmp_path_factory.mktemp("tls"), "secure.test")


def test_tls_is_checked_against_the_name_and_downgrades_are_recorded(certificate: tuple[Path, Path]) -> None:
    async def run() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        indicated: list[str | None] = []
        context.sni_callback = lambda _, name, __: indicated.append(name)
        async with (
            serving({"/": reply()}) as plain,
            serving(
                {"/": reply(), "/down": redirect(f"http://down.test:{plain.port}/"), "/stall": silence},
                context,
            ) as site,
        ):
            names = {name: ["127.0.0.1"] for name in ("secure.test", "other.test", "down.test")}
            settings = load_settings(
                webrag_allow_hosts=f"secure.test:{site.port},other.test:{site.port},down.test:{plain.port}",
                webrag_fetch_timeout=5.0,
            )
            trusting = ssl.create_default_context(cafile=str(certificate[0]))
            gate = NetworkGate(settings, resolver=resolver(names), tls=trusting)
            answer = await gate.get(f"https://secure.test:{site.port}/down")
            assert (answer.body, answer.downgraded) == (b"hello", True)
            assert indicated == ["secure.test"]
            strangers = NetworkGate(settings, resolver=resolver(names))
            for asker, url, reason in (
                (gate, f"https://other.test:{site.port}/", Reason.TLS_FAILURE),
                (strangers, f"https://secure.test:{site.port}/", Reason.TLS_FAILURE),
                (gate, f"https://down.test:{plain.port}/", Reason.TLS_FAILURE),
                (gate, f"https://secure.test:{site.port}/stall", Reason.TIMEOUT),
            ):
                with pytest.raises(FetchError) as caught:
                    await asker.get(url)
                assert caught.value.reason is reason, url

    asyncio.run(run())
