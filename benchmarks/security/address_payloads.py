"""URLs that must never lead to a socket: private addresses in every spelling that some parser accepts."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address

_V4 = (
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1"),
    *("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1"),
    "255.255.255.255",
)
_V6 = (
    *("::1", "::", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1", "2001:db8::1"),
    *("64:ff9b::7f00:1", "2002:7f00:1::", "2001:0:7f00:1::", "2a00::5efe:127.0.0.1", "::127.0.0.1", "::ffff:0:7f00:1"),
)
_NAMES = ("localhost", "LOCALHOST", "localhost.", "LocalHost.", "ip6-localhost", "loc%61lhost", "ｌｏｃａｌｈｏｓｔ")
_OTHER_SCHEMES = (
    *("file:///etc/passwd", "file://127.0.0.1/etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:6379/_INFO"),
    *("dict://127.0.0.1:11211/stats", "ws://127.0.0.1/", "data:text/html,<h1>x</h1>", "javascript:alert(1)"),
    *("jar:http://127.0.0.1/!/", "view-source:http://127.0.0.1/", "unix:///var/run/docker.sock", "about:blank"),
    *("http+unix://%2Fvar%2Frun%2Fdocker.sock/info", "blob:http://127.0.0.1/1", "tel:127001", "//", "http://", "http:"),
)
_PUBLIC = "example.org"


def _v4_hosts(text: str) -> Iterator[str]:
    address = IPv4Address(text)
    number, parts = int(address), [int(part) for part in text.split(".")]
    yield text
    yield f"{text}."
    yield str(number)
    yield hex(number)
    yield f"0{number:o}"
    yield ".".join(map(hex, parts))
    yield ".".join(f"0{part:o}" for part in parts)
    yield ".".join(f"{part:04o}" for part in parts)
    yield f"{hex(parts[0])}.{number & 0xFFFFFF}"
    yield f"{parts[0]}.{parts[1]}.{number & 0xFFFF}"
    yield text.translate(str.maketrans("0123456789", "０１２３４５６７８９"))
    yield text.replace(".", "。")
    yield text.replace(".", "．")
    yield text.replace(".", "%2e")
    yield "".join(f"%{ord(character):02x}" for character in text)
    yield text.translate(str.maketrans("123456789", "①②③④⑤⑥⑦⑧⑨"))
    yield f"[::ffff:{text}]"
    yield f"[{IPv6Address('::ffff:' + text).exploded}]"


def _v6_hosts(text: str) -> Iterator[str]:
    address = IPv6Address(text)
    yield f"[{text}]"
    yield f"[{address.exploded}]"
    yield f"[{address.exploded.upper()}]"
    yield f"[{text}%25eth0]"
    yield f"[{text}%eth0]"


def _urls(host: str, port: int) -> Iterator[str]:
    yield f"http://{host}/"
    yield f"http://{host}:{port}/latest/meta-data/"
    yield f"https://{host}/"


def _dressed(host: str, port: int) -> Iterator[str]:
    """The address behind user info, slashes and blanks."""
    yield f"http://{_PUBLIC}@{host}:{port}/"
    yield f"http://{_PUBLIC}:80@{host}:{port}/"
    yield f"http://{host}:{port}#@{_PUBLIC}/"
    yield f"http://{host}:{port}\\@{_PUBLIC}/"
    yield f"http://{host}:{port}?@{_PUBLIC}/"
    yield f"http:{host}:{port}/"
    yield f"http:/{host}:{port}/"
    yield f"http:///{host}:{port}/"
    yield f"http:\\\\{host}:{port}\\"
    yield f" http://{host}:{port}/ "
    yield f"ht\ttp://{host[:3]}\n{host[3:]}:{port}/"
    yield f"HTTP://{host}:{port}/"
    yield f"http://{host}:0{port}/"
    yield f"http://{host}:{port + 65536}/"
    yield f"http://{host}\u0000.{_PUBLIC}:{port}/"
    yield f"http://{host}\u200b:{port}/"
    yield f"http://{host}\u00ad:{port}/"


def payloads(port: int) -> list[str]:
    """Every payload once, in a fixed order. `port` is that of the canary on 127.0.0.1."""
    urls: dict[str, None] = {}
    for address in _V4:
        hosts = list(_v4_hosts(address))
        for host in hosts if address in ("127.0.0.1", "169.254.169.254") else hosts[:4]:
            urls |= dict.fromkeys(_urls(host, port))
    for address in _V6:
        for host in _v6_hosts(address):
            urls |= dict.fromkeys(_urls(host, port))
    for name in _NAMES:
        urls |= dict.fromkeys(_urls(name, port))
    for host in ("127.0.0.1", "localhost", "[::1]"):
        urls |= dict.fromkeys(_dressed(host, port))
    urls |= dict.fromkeys(f"http://127.0.0.1:{other}/" for other in (22, 25, 53, 5432, 6379, 8080, 9200, 11211))
    return [*urls, *_OTHER_SCHEMES]
