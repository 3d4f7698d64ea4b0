"""Log-ins of sites: headers, cookies and client certificates, each for one host, out of a file or the environment.

They are sent to that very host alone, hop by hop, and are no part of what is stored, logged or shown.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path

import ada_url

from webrag_core.acquisition.urls import canonicalise
from webrag_core.config.fetching import FetchingSettings
from webrag_core.errors import FetchError, InvalidInputError

_KEYS = frozenset({"headers", "cookies", "certificate", "key", "authority", "plain_http"})
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
_VALUE = re.compile(r"[\x21-\x7e\xa1-\xff](?:[ \t\x21-\x7e\xa1-\xff]*[\x21-\x7e\xa1-\xff])?")
_COOKIE_NAME = re.compile(r"[!#$%&'*+.^_`|~\w-]{1,256}", re.ASCII)
_COOKIE_VALUE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")
# of the connection, or of what the gate does with it
_NOT_OURS = frozenset(
    ("host", "connection", "content-length", "transfer-encoding", "accept-encoding", "cookie", "user-agent")
)
_FROM_ENVIRONMENT = "env:"
_MAX_FILE_BYTES = 256 * 1024
_LEAST_SECRET, _LEAST_OTHER_SECRET = 8, 16
"""Letters from which on a value is looked for in answers: a shorter one is in any text."""

_LIKE_A_LOG_IN = re.compile(
    r"/(?:[\w.-]{0,100}[_.-])?(?:log[_-]?in|sign[_-]?in|log[_-]?on|sign[_-]?on|sso|saml2?|oauth2?|cas|auth)(?:[/._-]|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, repr=False)
class Login:
    """What is sent to one `host`: headers in lower case, cookies, and files in PEM: `certificate` with `key` (None = in
    the same file), and the `authority` that is trusted instead of the system's.
    """

    host: str
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    certificate: Path | None = None
    key: Path | None = None
    authority: Path | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that no answer may repeat. Of other headers than Authorization only long ones: a name is no secret."""
        given = [*self.cookies.values(), *self.headers.get("authorization", "").split()]
        others = [value for name, value in self.headers.items() if name != "authorization"]
        return (
            *(value for value in given if len(value) >= _LEAST_SECRET),
            *(value for value in others if len(value) >= _LEAST_OTHER_SECRET),
        )


@dataclass(frozen=True, repr=False)
class Logins:
    """Log-ins by origin, as `https://host` with a port that is not the scheme's own."""

    by_origin: Mapping[str, Login] = field(default_factory=dict)

    def of(self, url: str) -> Login | None:
        """The log-in for canonical `url`."""
        return self.by_origin.get(ada_url.URL(url).origin) if self.by_origin else None

    def given_away(self, text: str, body: bytes) -> bool:
        """Whether addresses (`text`) or a page (`body`) hold a secret of any log-in."""
        return any(secret in text or secret.encode("latin-1") in body for secret in self._secrets)

    @cached_property
    def _secrets(self) -> tuple[str, ...]:
        return tuple({secret for login in self.by_origin.values() for secret in login.secrets})


def leads_to_a_log_in(url: str) -> bool:
    """Whether the path of canonical `url` is named as pages to log in on are."""
    return _LIKE_A_LOG_IN.search(ada_url.URL(url).pathname) is not None


def read_logins(settings: FetchingSettings) -> Logins:
    """Log-ins that WEBRAG_LOGINS names (a TOML file) or holds (JSON).

    Raises InvalidInputError for what cannot be used, and for a file that others may read or that lies in the corpus.
    Its messages hold no value.
    """
    given = settings.webrag_logins.get_secret_value().strip() if settings.webrag_logins is not None else ""
    if not given:
        return Logins()
    table = _json(given) if given.startswith("{") else _file(Path(given).expanduser(), settings.webrag_home)
    by_origin: dict[str, Login] = {}
    for host, entry in table.items():
        if not isinstance(entry, dict):
            raise unusable(host, "it is no table")
        login = _login(host, entry)
        by_origin |= dict.fromkeys(_origins(host, plain_http=entry.get("plain_http", False)), login)
    return Logins(by_origin)


def _json(given: str) -> dict[str, object]:
    try:
        table = json.loads(given)
    except ValueError:
        raise InvalidInputError("WEBRAG_LOGINS is neither the path of a file nor JSON") from None
    if not isinstance(table, dict):
        raise InvalidInputError("WEBRAG_LOGINS holds no table of hosts")
    return table


def _file(file: Path, corpus: Path) -> dict[str, object]:
    if not file.is_absolute():
        raise InvalidInputError("WEBRAG_LOGINS: the path of the file must be absolute")
    try:
        if file.resolve().is_relative_to(corpus.resolve()):
            raise InvalidInputError(f"WEBRAG_LOGINS: {file} lies in the corpus; keep it elsewhere")
        with file.open("rb") as stream:
            status = os.fstat(stream.fileno())
            if status.st_uid not in (0, os.geteuid()):
                raise InvalidInputError(f"WEBRAG_LOGINS: {file} belongs to another user: `chown` it to yourself")
            if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise InvalidInputError(f"WEBRAG_LOGINS: {file} can be read by other users: `chmod 600` it")
            return tomllib.loads(stream.read(_MAX_FILE_BYTES).decode())
    except OSError as error:
        raise InvalidInputError(f"WEBRAG_LOGINS: {file} cannot be read: {error.strerror}") from None
    except ValueError:  # of TOML and UTF-8: its message may quote a line
        raise InvalidInputError(f"WEBRAG_LOGINS: {file} is no TOML in UTF-8") from None


def _origins(host: str, *, plain_http: object) -> list[str]:
    """Origins that a log-in is for: https, and http where it is asked for or stays on this machine."""
    try:
        url = ada_url.URL(canonicalise(f"https://{host}/"))
    except FetchError:
        raise unusable(host, "it is not a host, or host:port") from None
    if url.pathname != "/" or url.search or url.hash or "/" in host:
        raise unusable(host, "it is not a host, or host:port")
    if not isinstance(plain_http, bool):
        raise unusable(host, "plain_http is true or false")
    origins = [str(url.origin)]
    if plain_http or _is_loopback(url.hostname.strip("[]")):
        origins.append(str(ada_url.URL(f"http://{host}/").origin))
    return origins


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _login(host: str, entry: Mapping[str, object]) -> Login:
    if unknown := entry.keys() - _KEYS:
        raise unusable(host, f"{sorted(unknown)[0]!r} is none of {', '.join(sorted(_KEYS))}")
    headers = {name.lower(): value for name, value in _texts(host, entry, "headers").items()}
    cookies = _texts(host, entry, "cookies")
    for name, value in headers.items():
        if name in _NOT_OURS or not _HEADER.fullmatch(name) or not _VALUE.fullmatch(value):
            raise unusable(host, f"header {name!r} cannot be sent")
    for name, value in cookies.items():
        if not _COOKIE_NAME.fullmatch(name) or not _COOKIE_VALUE.fullmatch(value):
            raise unusable(host, f"cookie {name!r} cannot be sent")
    return Login(host, headers, cookies, **_files(host, entry))


def _texts(host: str, entry: Mapping[str, object], key: str) -> dict[str, str]:
    """The texts of a table; `env:NAME` stands for the variable of that name."""
    table = entry.get(key, {})
    if not isinstance(table, dict):
        raise unusable(host, f"{key} is no table")
    texts = {}
    for name, value in table.items():
        if not isinstance(value, str):
            raise unusable(host, f"{key}: {name!r} is no text")
        if value.startswith(_FROM_ENVIRONMENT):
            variable = value.removeprefix(_FROM_ENVIRONMENT)
            if variable not in os.environ:
                raise unusable(host, f"the variable {variable} is not set")
            value = os.environ[variable].strip()
        texts[name] = value
    return texts


def _files(host: str, entry: Mapping[str, object]) -> dict[str, Path]:
    paths = {key: entry[key] for key in ("certificate", "key", "authority") if key in entry}
    files = {key: Path(path).expanduser() for key, path in paths.items() if isinstance(path, str)}
    if files.keys() != paths.keys() or ("key" in files and "certificate" not in files):
        raise unusable(host, "certificate, key and authority are paths, and a key needs a certificate")
    return files


def unusable(host: str, problem: str) -> InvalidInputError:
    """The error for an entry of WEBRAG_LOGINS; `problem` holds no value of it."""
    return InvalidInputError(f"WEBRAG_LOGINS: {host[:100]}: {problem}")
