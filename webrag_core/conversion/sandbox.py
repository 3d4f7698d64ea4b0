"""What a process that parses pages of the web may still do: compute, and read the libraries it runs with.

Landlock (Linux 5.13) takes away files, and the sight of other processes; a seccomp filter takes away network, new
programs and processes, and signals to others; root's capabilities go too. All of it holds until the process ends. The
kernel is called directly: the packages that wrap these calls need a library of the system, or know only one half.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_Call = tuple[int | None, int | None]
"""Numbers of a system call on x86-64 and arm64; None where a processor has no such call."""

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_REFUSED: dict[str, _Call] = {
    # network; io_uring does what the filter does not see
    "socket": (41, 198),
    "socketpair": (53, 199),
    "io_uring_setup": (425, 425),
    # programs and processes
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "unshare": (272, 97),
    "setns": (308, 268),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kill": (62, 129),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    # files: what Landlock leaves, and most of what it takes, for kernels without it
    "creat": (85, None),
    "truncate": (76, 45),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rmdir": (84, None),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "memfd_create": (319, 279),
    "open_by_handle_at": (304, 265),
    # the kernel itself
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
}
_ABSENT: tuple[_Call, ...] = (
    (435, 435),
    (437, 437),
)  # clone3, openat2: their arguments are out of a filter's sight; libc does without
_OPEN: _Call = (2, None)
_OPENAT, _CLONE, _TGKILL, _PRLIMIT = (257, 56), (56, 220), (234, 131), (302, 261)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CLONE_THREAD = 0x00010000
_X32 = 0x40000000  # numbers from here on are another interface to the same kernel

_CAPGET, _CAPSET, _PRCTL, _SECCOMP = (125, 90), (126, 91), (157, 167), (317, 277)
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # the same on all architectures
_NO_NEW_PRIVILEGES, _FILTER_MODE = 38, 1
_CAPABILITIES_3 = 0x20080522
_DAC_READ_SEARCH = 1 << 2  # stays with root, who may have installed this in another user's folder
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long


def confine() -> dict[str, str | None]:
    """Confine this process, for good. Returns what was to be taken away, and why it was not; None where it was."""
    problem = None
    if sys.platform != "linux" or (machine := platform.machine()) not in _ARCHITECTURES:
        problem, machine = "needs Linux on x86-64 or arm64", "x86_64"
    column, audit = _ARCHITECTURES[machine]
    steps: dict[str, Callable[[], None]] = {
        "capabilities of root": lambda: _drop_capabilities(column),
        "files and other processes (Landlock)": _restrict_files,
        "network, programs and signals (seccomp)": lambda: _filter_calls(column, audit),
    }
    return {what: problem or _problem(take_away) for what, take_away in steps.items()}


def _problem(take_away: Callable[[], None]) -> str | None:
    try:
        take_away()
    except OSError as error:
        return error.strerror
    return None


def _drop_capabilities(column: int) -> None:
    """Those of root, which reach into the kernel. What follows asks that none can be gained again."""
    _call(_PRCTL[column], _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header, sets = struct.pack("Ii", _CAPABILITIES_3, 0), ctypes.create_string_buffer(24)
    _call(_CAPGET[column], header, sets)
    left = struct.unpack("6I", sets)[1] & _DAC_READ_SEARCH
    _call(_CAPSET[column], header, struct.pack("6I", left, left, 0, 0, 0, 0))


def _restrict_files() -> None:
    """Nothing but reading below `_readable`; no sight of processes outside, no signals to them, no TCP."""
    version = _call(_LANDLOCK_CREATE, None, 0, 1)
    files = (1 << 13) - 1
    for since, right in ((2, 1 << 13), (3, 1 << 14), (5, 1 << 15)):
        files |= right if version >= since else 0
    rights = struct.pack("QQQ", files, 0b11, 0b11)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _call(_LANDLOCK_CREATE, rights, len(rights), 0)
    try:
        for path in _readable():
            _allow_reading(ruleset, path)
        _call(_LANDLOCK_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _readable() -> set[Path]:
    """What modules and libraries are loaded from. A clone's root is not among it: it may hold keys and the database."""
    package = Path(__file__).parents[1]
    paths = {Path(entry) for entry in (*sys.path, *_SYSTEM)}
    if package.parent.name not in ("site-packages", "dist-packages"):
        paths.discard(package.parent)
    return paths | {package}


def _allow_reading(ruleset: int, path: Path) -> None:
    with suppress(FileNotFoundError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = struct.pack("=Qi", _READ_FILE | (_READ_DIR if path.is_dir() else 0), place)
            _call(_LANDLOCK_ADD, ruleset, 1, rule, 0)
        finally:
            os.close(place)


def _filter_calls(column: int, audit: int) -> None:
    program = ctypes.create_string_buffer(_program(column, audit))
    _call(_SECCOMP[column], _FILTER_MODE, 0, struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(program)))


def _program(column: int, audit: int) -> bytes:
    """The filter, for the virtual machine of Berkeley packet filters: what is not refused is allowed."""
    load, equal, at_least, any_bit, answer = 0x20, 0x15, 0x35, 0x45, 0x06  # operation codes
    number, architecture, first_argument = 0, 4, 16  # places in what the kernel shows; arguments are 8 bytes
    allow, refuse, absent = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS

    def step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    def judged(call: _Call, argument: int, code: int, value: int, *, refused: bool) -> bytes:
        """Refuse `call` when the test of its argument comes out as `refused`, else allow it."""
        if (call_number := call[column]) is None:
            return b""
        test = step(code, value, 0, 1) if refused else step(code, value, 1, 0)
        body = step(load, first_argument + 8 * argument) + test + step(answer, refuse) + step(answer, allow)
        return step(equal, call_number, 0, len(body) // 8) + body

    program = step(load, architecture) + step(equal, audit, 1, 0) + step(answer, refuse) + step(load, number)
    program += step(at_least, _X32, 0, 1) + step(answer, refuse)
    for calls, verdict in ((_REFUSED.values(), refuse), (_ABSENT, absent)):
        for call in calls:
            if (call_number := call[column]) is not None:
                program += step(equal, call_number, 0, 1) + step(answer, verdict)
    program += judged(_OPEN, 1, any_bit, _WRITING, refused=True)
    program += judged(_OPENAT, 2, any_bit, _WRITING, refused=True)
    program += judged(_CLONE, 0, any_bit, _CLONE_THREAD, refused=False)
    program += judged(_TGKILL, 0, equal, os.getpid(), refused=False)
    program += judged(_PRLIMIT, 0, equal, 0, refused=False)
    return program + step(answer, allow)


def _call(number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a system call. Raises OSError."""
    result: int = _LIBC.syscall(
        ctypes.c_long(number), *(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    )
    if result < 0:
        problem = ctypes.get_errno()
        raise OSError(problem, os.strerror(problem))
    return result
