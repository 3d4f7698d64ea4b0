from __future__ import annotations

from ipaddress import ip_address

import pytest

from webrag_core.acquisition.addresses import is_public


@pytest.mark.parametrize(
    "address",
    [
        *(
            "1.1.1.1",
            "8.8.8.8",
            "93.184.215.14",
            "172.15.255.255",
            "172.32.0.1",
            "192.0.1.1",
            "168.63.129.17",
        ),
        *("100.63.255.255", "100.128.0.1", "198.17.255.255", "198.20.0.1", "223.255.255.255"),
        *("2606:4700::6810:84e5", "2a00:1450:4001::200e", "2001:4860:4860::8888", "2620:fe::fe"),
        "::ffff:8.8.8.8",
    ],
)
def test_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        # this machine, this network
        *("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.255", "10.0.0.1", "172.16.0.1", "172.31.255.255"),
        *("192.168.0.1", "169.254.0.1", "100.64.0.1", "100.127.255.255", "255.255.255.255"),
        # metadata services and host agents
        *("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"),
        # special purposes
        *(
            "192.0.0.1",
            "192.0.0.9",
            "192.0.0.170",
            "192.0.2.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
        ),
        *("203.0.113.1", "192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1"),
        *(
            "::",
            "::1",
            "fe80::1",
            "fe80::1%eth0",
            "fec0::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "ff0e::1",
            "100::1",
        ),
        *("2001:db8::1", "3fff::1", "2001:2::1", "2001:10::1", "2001:20::1", "4000::1", "5f00::1"),
        # IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP
        *(
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:168.63.129.16",
            "::8.8.8.8",
            "::ffff:0:8.8.8.8",
        ),
        *("64:ff9b::a00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:808:808::1"),
        *(
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2a00::5efe:10.0.0.1",
            "2a00::200:5efe:10.0.0.1",
        ),
        # spelt otherwise, or newly assigned
        *("::ffff:a9fe:a9fe", "::ffff:100.100.100.200", "::ffff:192.88.99.1", "64:ff9b::", "64:ff9b:1:ffff::1"),
        *("fd20:ce::254", "2001:1::1", "2001:3::1", "2001:1ff:ffff::1", "2002::", "3fff:fff::1", "fe80::5efe:8.8.8.8"),
        # an interface of this machine, on a public address
        "2606:4700::1%eth0",
    ],
)
def test_not_public(address: str) -> None:
    assert not is_public(ip_address(address))
