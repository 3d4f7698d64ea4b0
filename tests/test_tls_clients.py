"""No client of TLS without the one trust store: whatever can be given certificates is given ours, and ours verify."""

from __future__ import annotations

import ast
import inspect
import re
import ssl
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from webrag_core.acquisition.gate import NetworkGate
from webrag_core.config import load_settings
from webrag_core.providers.endpoint import mail_trust, trust_store

pytestmark = pytest.mark.slow

_MODULES = (
    *("ssl", "smtplib", "ftplib", "imaplib", "poplib", "nntplib", "http.client", "urllib.request", "xmlrpc.client"),
    *("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3", "aiohttp", "websockets"),
)
_SDKS = ("openai", "cohere", "zeroentropy")  # known by names alone: to import them takes five seconds
_SDK_CLIENT = re.compile(r"Client|^Async[A-Z]|^OpenAI$|^ZeroEntropy$")
_CERTIFICATES = {"verify", "context", "ssl_context", "ssl"}
_CLIENTS = {"http_client", "httpx_client"}  # of an SDK: a client that is looked at where it is made
_UPGRADES = {"starttls", "stls"}  # methods of an open connection
_STORES = ("trust_store(...)", "mail_trust()", "self._tls", "self._trust(login)")
_MAKERS = {"webrag_core/providers/endpoint.py", "webrag_core/acquisition/gate.py"}
_MAKING = {"create_ssl_context", "create_default_context"}


def _names(tree: ast.AST) -> dict[str, str]:
    """What each imported name stands for, with its module."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name.split(".")[0]: alias.name for alias in node.names if alias.asname}
            names |= {alias.name.split(".")[0]: alias.name.split(".")[0] for alias in node.names if not alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _dotted(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute) and (owner := _dotted(node.value, names)):
        return f"{owner}.{node.attr}"
    return ""


def _wanted(dotted: str) -> set[str]:
    """The arguments by which this callable of a networking library is given certificates or a client."""
    library, _, name = dotted.partition(".")
    if library in _SDKS:
        return (_CERTIFICATES if "Httpx" in name else _CLIENTS) if _SDK_CLIENT.search(name) else set()
    module = next((name for name in _MODULES if dotted.startswith(f"{name}.")), None)
    if module is None:
        return set()
    try:
        found: object = import_module(module)
        for part in dotted.removeprefix(f"{module}.").split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return set()  # a submodule, or a name for type checkers only
    if not callable(found) or (inspect.isclass(found) and issubclass(found, BaseException)):
        return set()
    owners = found.__mro__[:-1] if inspect.isclass(found) else (found,)
    parameters: set[str] = set()
    for owner in owners:
        try:
            parameters |= set(inspect.signature(owner).parameters)
        except (TypeError, ValueError):
            continue  # compiled code without a signature
    return parameters & (_CERTIFICATES | _CLIENTS)


def _is_store(value: ast.expr) -> bool:
    """Whether an argument is the trust store."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("trust_store", "mail_trust")
    return ast.unparse(value) in ("self._tls", "self._trust(login)")


def faults(path: str, text: str) -> Iterator[str]:
    """Places of a file in which a connection would be encrypted to whoever answers."""
    tree = ast.parse(text)
    names = _names(tree)
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    notes = {
        id(inner)
        for node in ast.walk(tree)
        for note in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(note, ast.AST)
        for inner in ast.walk(note)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name | ast.Attribute) or id(node) in notes:
            continue
        where, call = f"{path}:{node.lineno}", calls.get(id(node))
        given = {} if call is None else {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        dotted = _dotted(node, names)
        wanted = _wanted(dotted)
        if isinstance(node, ast.Attribute) and node.attr in _UPGRADES:
            wanted = {"context"}
        if isinstance(node, ast.Attribute) and node.attr in _MAKING:
            wanted = set()
            if path not in _MAKERS:
                yield f"{where}: {node.attr} makes another trust store"
        if dotted.startswith(("ssl._create", "ssl.wrap_socket")) or (dotted == "ssl.SSLContext" and call is not None):
            yield f"{where}: {dotted} verifies nothing"
        elif wanted and not set(given) & wanted:
            yield f"{where}: {ast.unparse(node)} without {' or '.join(sorted(wanted))}"
        for name in set(given) & _CERTIFICATES & (wanted | {"verify", "ssl", "ssl_context"}):
            if not _is_store(given[name]):
                yield f"{where}: {name} is {ast.unparse(given[name])}, none of {', '.join(_STORES)}"


def test_every_client_is_given_the_trust_store() -> None:
    files = [path for part in ("webrag_core", "webrag_dagster") for path in sorted((REPOSITORY / part).rglob("*.py"))]
    texts = {str(path.relative_to(REPOSITORY)): Path(path).read_text(encoding="utf-8") for path in files}
    network = {
        path: text for path, text in texts.items() if any(name in text for name in (*_MODULES, *_SDKS, *_UPGRADES))
    }
    assert len(network) > 10
    assert [fault for path, text in network.items() for fault in faults(path, text)] == []


@pytest.mark.parametrize(
    "code",
    [
        "import smtplib\nsmtplib.SMTP_SSL('mail.test')",
        "import smtplib\nclient = smtplib.SMTP_SSL if secure else smtplib.SMTP",
        "import smtplib\nwith smtplib.SMTP('mail.test') as c:\n    c.starttls()",
        "from smtplib import SMTP_SSL as mail\nmail('mail.test', context=None)",
        "import ftplib\nftplib.FTP_TLS('ftp.test')",
        "import http.client\nhttp.client.HTTPSConnection('a.test')",
        "import httpx\nhttpx.AsyncClient(timeout=3)",
        "import httpx2 as h\nh.Client(verify=False)",
        "import httpx2\nhttpx2.get('https://a.test/')",
        "from urllib.request import urlopen\nurlopen('https://a.test/')",
        "import openai\nopenai.AsyncOpenAI(api_key='k')",
        "from cohere import AsyncClientV2\nAsyncClientV2(api_key='k')",
        "import openai\nopenai.DefaultAsyncHttpxClient(follow_redirects=False)",
        "import ssl\nssl._create_unverified_context()",
        "import ssl\ncontext = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)",
        "import ssl\ncontext = ssl.create_default_context()",
        "import asyncio\nasyncio.open_connection('a.test', 443, ssl=True)",
    ],
)
def test_a_client_without_it_is_found(code: str) -> None:
    assert list(faults("webrag_core/new.py", code))


def test_the_trust_stores_verify_certificate_and_name() -> None:
    gate = NetworkGate(load_settings())
    for context in (trust_store("httpx"), trust_store("httpx2"), mail_trust(), gate._trust(None)):
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname
    assert mail_trust() is not trust_store("httpx2")
