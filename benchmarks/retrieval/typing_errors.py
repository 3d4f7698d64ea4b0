"""Typing errors in queries: how many are seen through, and how many right words are taken for errors.

Of each site words are drawn from its passages and mistyped in several ways; those whose letters still make a word of
the site are left out. Right words are those of the other sites that this site does not have: common and rare ones, and
names, which are searched for with a capital. Sites are stored in WEBRAG_HOME (`webrag ingest --warc FILE`).

    python -m benchmarks.retrieval.typing_errors HOST HOST …
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence

from psycopg import AsyncConnection

from webrag_core.config import load_settings
from webrag_core.indexing.pipeline import Corpus
from webrag_core.indexing.terms import query_terms, terms
from webrag_core.language.detection import detected
from webrag_core.retrieval.bm25 import count_terms
from webrag_core.retrieval.scope import Scope, ScopeSize, scope_size, source_scope
from webrag_core.retrieval.spelling import find_spellings

WORDS = 120
"""Words of a site that are mistyped, each in every way; and of each kind of right words."""
_SEED = 20261126
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_VOWELS = "aeiou"
_LONG = 9
_WORD = re.compile(r"(?<![\w`/.#@$-])[a-z]{5,20}(?![\w`/.(=-])")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,20}(?![\w`/.(=-])")

Mistype = Callable[[str, random.Random], str]


def dropped(word: str, chance: random.Random) -> str:
    """Without a letter."""
    at = chance.randrange(len(word))
    return word[:at] + word[at + 1 :]


def doubled(word: str, chance: random.Random) -> str:
    """With a letter twice."""
    at = chance.randrange(len(word))
    return word[:at] + word[at] + word[at:]


def swapped(word: str, chance: random.Random) -> str:
    """With two neighbours in the wrong order."""
    at = chance.randrange(len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def slipped(word: str, chance: random.Random) -> str:
    """With the key beside the right one."""
    at = chance.randrange(len(word))
    row = next(row for row in _ROWS if word[at] in row)
    place = row.index(word[at])
    beside = [row[other] for other in (place - 1, place + 1) if 0 <= other < len(row)]
    return word[:at] + chance.choice(beside) + word[at + 1 :]


def misheard(word: str, chance: random.Random) -> str:
    """With another vowel; the word itself where it has none."""
    places = [at for at, letter in enumerate(word) if letter in _VOWELS]
    if not places:
        return word
    at = chance.choice(places)
    return word[:at] + chance.choice(_VOWELS.replace(word[at], "")) + word[at + 1 :]


def twice(word: str, chance: random.Random) -> str:
    """With two errors, if it is long."""
    if len(word) < _LONG:
        return word
    first, second = chance.sample((dropped, doubled, swapped, slipped, misheard), 2)
    return second(first(word, chance), chance)


KINDS: tuple[Mistype, ...] = (dropped, doubled, swapped, slipped, misheard, twice)


async def _taken(connection: AsyncConnection, word: str, scope: Scope, size: ScopeSize) -> tuple[bool, str | None]:
    """Whether a word is nowhere in the scope, and what it is taken for."""
    query = f"How do I use the {word} here?"
    words = query_terms(query, size.rules, detected(query))
    counted = await count_terms(connection, words, scope, size.indexes)
    assert counted.cursor is not None
    absent = {str(row[0]) for row in await counted.cursor.fetchall() if not row[2]}
    if not set(terms(word, "en")) & absent:
        return False, None
    spellings = await find_spellings(connection, query, absent, scope, size)
    return True, next((spelling.taken for spelling in spellings if spelling.typed == word), None)


async def _texts(connection: AsyncConnection, host: str) -> str:
    cursor = await connection.execute(
        "SELECT string_agg(c.body, E'\\n' ORDER BY c.id) FROM chunks c JOIN documents d ON d.current_version ="
        " c.version_id JOIN sources s ON s.id = d.source_id WHERE s.key = %s AND c.level = 'parent'",
        (host,),
    )
    row = await cursor.fetchone()
    assert row is not None
    return str(row[0])


async def measure(hosts: Sequence[str]) -> None:
    """Print a line for each site and kind."""
    async with Corpus.open(load_settings()) as corpus, corpus.database.snapshot() as connection:
        texts = {host: await _texts(connection, host) for host in hosts}
        words = {host: sorted(set(_WORD.findall(text))) for host, text in texts.items()}
        names = {host: sorted(set(_NAME.findall(text))) for host, text in texts.items()}
        for host in hosts:
            scope = await source_scope(connection, [host])
            size = await scope_size(connection, scope)
            chance = random.Random(_SEED)
            drawn = chance.sample(words[host], min(WORDS, len(words[host])))
            began, count = time.process_time(), 0
            for kind in KINDS:
                counts: Counter[str] = Counter()
                examples = []
                for word in drawn:
                    typed = kind(word, chance)
                    is_absent, taken = (False, None) if typed == word else await _taken(connection, typed, scope, size)
                    if not is_absent:
                        continue
                    count += 1
                    right = taken is not None and bool(set(terms(taken, "en")) & set(terms(word, "en")))
                    counts["right" if right else "none" if taken is None else "wrong"] += 1
                    if taken is not None and not right:
                        examples.append(f"{typed} ({word}) as {taken}")
                _report(host, kind.__name__, counts, examples)
            for label, pools in (("right words", words), ("right names", names)):
                others = sorted({pool for other in hosts if other != host for pool in pools[other]})
                counts, examples = Counter(), []
                for word in chance.sample(others, min(4 * WORDS, len(others))):
                    is_absent, taken = await _taken(connection, word, scope, size)
                    count += is_absent
                    if is_absent:
                        counts["none" if taken is None else "wrong"] += 1
                        if taken is not None:
                            examples.append(f"{word} as {taken}")
                _report(host, label, counts, examples)
            cost = (time.process_time() - began) * 1000 / max(1, count)
            print(f"{host}: {size.parents} passages, {cost:.1f} ms of processor time here for a word that is nowhere")


def _report(host: str, kind: str, counts: Counter[str], examples: Sequence[str]) -> None:
    number = counts.total()
    shares = ", ".join(f"{name} {counts[name] / max(1, number):.3f}" for name in ("right", "wrong", "none"))
    print(f"{host} {kind}: n {number}, {shares}", f"({'; '.join(examples[:6])})" if examples else "")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", nargs="+")
    asyncio.run(measure(parser.parse_args().hosts))


if __name__ == "__main__":
    main()
