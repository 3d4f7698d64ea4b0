"""Which IP addresses belong to the public internet. Pure; the network gate asks before it dials."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

# Refused on top of what `ipaddress` calls private. Python's own list changes between patch releases, so
# whatever it is known to miss, or to have missed, is written out here.
_V4_REFUSED = tuple(
    IPv4Network(network)
    for network in (
        "100.64.0.0/10",  # carrier-grade NAT; also 100.100.100.200, a cloud's metadata service
        "192.0.0.0/24",  # protocol assignments, partly global to newer Pythons; .192 is a cloud's metadata
        "192.88.99.0/24",  # 6to4 relays: forwards to whoever answers the anycast
        "168.63.129.16/32",  # Azure's host agent, on an address that looks public
        "224.0.0.0/4",  # multicast, which `is_global` lets through
        "240.0.0.0/4",  # reserved, and broadcast
    )
)

# The only part of IPv6 handed out for the public internet. Leaves out loopback, unique local (so AWS metadata
# at fd00:ec2::254), link-local, multicast, ::a.b.c.d (v4-compatible) and the NAT64 prefixes under 64:ff9b.
_V6_GLOBAL = IPv6Network("2000::/3")
_V6_REFUSED = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo (2001::/32, carries an IPv4 address), benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: carries an IPv4 address, private ones too
        "3fff::/20",  # documentation since 2024; unknown to older Pythons
    )
)

# ISATAP can sit under any prefix: the interface identifier is 0000:5efe or 0200:5efe, then an IPv4 address.
_ISATAP = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")


def is_public(ip: IPv4Address | IPv6Address) -> bool:
    """True when `ip` is a host on the public internet; False for everything local, special or tunnelled."""
    if isinstance(ip, IPv4Address):
        return _is_public_v4(ip)
    if ip.scope_id is not None:  # names an interface of this machine
        return False
    if ip.ipv4_mapped is not None:  # the socket layer dials the IPv4 address inside
        return _is_public_v4(ip.ipv4_mapped)
    return ip in _V6_GLOBAL and not any(ip in network for network in _V6_REFUSED) and ip.packed[8:12] not in _ISATAP


def _is_public_v4(ip: IPv4Address) -> bool:
    return ip.is_global and not any(ip in network for network in _V4_REFUSED)
