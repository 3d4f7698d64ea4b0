"""What a process keeps between calls is safe for threads: every open corpus may have a loop in one of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from threading import Thread

import pytest

from tests.conftest import REPOSITORY
from webrag_core.recently_used import RecentlyUsed

pytestmark = pytest.mark.slow

_CONTAINERS = {"dict", "list", "set", "OrderedDict", "defaultdict", "Counter", "deque", "WeakValueDictionary"}


class WatchedKey:
    """A key that has something done by another thread when it is looked up for the second time: after a cache found
    it, before it is taken. It waits for that, but not for long: against a lock it would wait in vain."""

    def __init__(self) -> None:
        self.look_ups = 0
        self.meanwhile: Callable[[], None] = lambda: None

    def watch(self, meanwhile: Callable[[], None]) -> None:
        self.look_ups, self.meanwhile = 0, meanwhile

    def __hash__(self) -> int:
        self.look_ups += 1
        if self.look_ups == 2:
            other = Thread(target=self.meanwhile, daemon=True)
            other.start()
            other.join(0.05)
        return 1


def test_a_value_may_be_forgotten_while_it_is_looked_up() -> None:
    cache: RecentlyUsed[object, str] = RecentlyUsed(2)
    key = WatchedKey()

    def fill() -> None:
        for number in range(10, 13):
            cache.put(number, "other")

    cache.put(key, "tea")
    cache.put(9, "other")
    key.watch(fill)
    assert cache.get(key) == "tea"
    assert key.look_ups > 1


def test_the_least_recently_used_goes_first() -> None:
    cache: RecentlyUsed[str, int] = RecentlyUsed(2)
    for value, key in enumerate(("a", "b")):
        cache.put(key, value)
    assert cache.get("a") == 0
    cache.put("c", 2)
    assert [cache.get(key) for key in ("a", "b", "c")] == [0, None, 2]
    cache.clear()
    assert cache.get("a") is None


def _is_empty_container(value: ast.expr | None) -> bool:
    match value:
        case ast.Dict(keys=[]) | ast.List(elts=[]):
            return True
        case ast.Call(func=function):
            return ast.unparse(function).split(".")[-1].split("[")[0] in _CONTAINERS and not value.args
    return False


def unguarded(text: str) -> Iterator[str]:
    """Names of a module that hold what functions of the module add to, without a lock beside them."""
    tree = ast.parse(text)
    unsafe = set()
    for one in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        filled = [node for node in ast.walk(one) if isinstance(node, ast.Assign | ast.AnnAssign)]
        if any(_is_empty_container(node.value) for node in filled) and "Lock()" not in ast.unparse(one):
            unsafe.add(one.name)
    bindings = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    locked = any("Lock()" in ast.unparse(node) for node in bindings)
    for node in bindings:
        made = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in unsafe
        if made or (_is_empty_container(node.value) and not locked):
            yield f"{node.lineno}: {ast.unparse(node)}"


def test_no_module_keeps_what_grows_without_a_lock() -> None:
    """The command line is a process of one thread."""
    files = [path for part in ("webrag_core", "webrag_dagster") for path in (REPOSITORY / part).rglob("*.py")]
    texts = {path.relative_to(REPOSITORY): path.read_text(encoding="utf-8") for path in files}
    found = {
        str(path): names for path, text in texts.items() if path.parts[1] != "cli" and (names := list(unguarded(text)))
    }
    assert found == {}
    assert len(list(unguarded("_KNOWN: dict[str, int] = {}\n_SEEN = collections.OrderedDict[str, int]()"))) == 2
    assert list(unguarded("class Kept:\n    def __init__(self):\n        self.kept = {}\n\n_KEPT = Kept()"))
