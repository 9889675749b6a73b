"""What the name of a host alone says of where it is. Pure: nothing is resolved."""

from __future__ import annotations

import ipaddress

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_PRIVATE_SUFFIXES = tuple(
    f".{suffix}"
    for suffix in (
        "localhost", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "test",
    )
)  # fmt: skip
"""Names that no public server bears: RFC 6761, RFC 6762 (appendix G), RFC 8375."""


def literal(host: str) -> IpAddress | None:
    """The address that a host is written as, an IPv4 address in IPv6 form as IPv4; None for a name."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_this_machine(host: str) -> bool:
    """Whether a host is this machine for certain: a loopback address, or `localhost` itself.

    Names below `localhost` are not: a resolver may ask the network for them.
    """
    address = literal(host)
    return address.is_loopback if address is not None else host.rstrip(".").lower() == "localhost"


def is_private(host: str) -> bool:
    """Whether a host is no public server: a private address, a name without a dot, or a private one."""
    address, name = literal(host), host.rstrip(".").lower()
    if address is not None:
        return not address.is_global
    return "." not in name or name.endswith(_PRIVATE_SUFFIXES)
