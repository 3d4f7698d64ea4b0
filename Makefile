# Needs Python 3.11+ and make; everything else comes from the package registry, pinned and hashed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# the environment here is ours: without bytecode each process that starts compiles two thousand modules
unexport PYTHONDONTWRITEBYTECODE

# files that hold such tests: to collect all of them takes ten seconds; faults of machines have a target of their own
ALONE = $(shell grep -rlE --include='test_*.py' --exclude-dir=faults 'mark\.alone' tests)
SLOW = $(shell grep -rlE --include='test_*.py' --exclude-dir=faults 'mark\.slow' tests)

PEERS = bm25s html2text llama-index-core llama-index-vector-stores-postgres onnxruntime pystemmer tokenizers

.PHONY: demo test test-all test-slow test-matrix ui lint docs pages plots screenshots sites bench-index bench-storage bench-conversion bench-plain-text bench-crash bench-race bench-hostile bench-refresh bench-retrieval bench-query bench-scope bench-lexical bench-typing bench-vectors bench-languages bench-goldens bench-history bench-graph bench-routes bench-answers bench-dialogue bench-sitewalk bench-walks bench-answer bench-functions bench-model bench-watch bench-ledger bench-mcp bench-web bench-health bench-security bench-api bench-growth bench-naughty bench-platform bench-ticks bench-month bench-kill bench-faults bench-workers bench-install bench-start requirements notebook clean bench-windows bench-peers bench-reading bench-first-visit

demo: $(VENV)/.runtime        ## ask one real question of a frozen real site
	@mkdir -p -m 700 .webrag  # the clone has a corpus of its own
	@$(BIN)/webrag demo

ui: $(VENV)/.runtime          ## Dagster's UI and daemon; runs replay the frozen site unless WEBRAG_WARC is set
	@mkdir -p -m 700 .webrag
	$(BIN)/webrag up --demo-site

test: $(VENV)/.dev            ## the tests: a process for each core, each with a database server; browsers and the like one at a time
	@$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder -m "not alone and not slow"
	@$(BIN)/pytest -m "alone and not slow" $(ALONE)

test-all: test test-slow      ## every test, those marked slow too: what CI runs

test-slow: $(VENV)/.dev       ## what takes seconds of processor time each, or proves for a second time: Dagster's processes, whole sites
	@$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder -m "slow and not alone" $(SLOW)
	@$(BIN)/pytest -m "slow and alone" $(ALONE)

test-matrix: $(VENV)/.dev     ## a quick subset on each Python from 3.11 to 3.14 that is here; MATRIX="--all 3.13" for more
	$(BIN)/python -m tests.matrix $(MATRIX)

lint: $(VENV)/.dev            ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs           ## the documentation as a site in build/docs; every warning is an error
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env --builder html docs build/docs

plots: $(VENV)/.dev           ## draw what bench-sitewalk and bench-answers wrote into runs/, for the documentation; RUNS=FOLDER reads another
	$(BIN)/python -m docs_tools.plots $(if $(RUNS),--runs $(RUNS))

pages: $(VENV)/.dev           ## write the generated pages of the documentation again, and its drawing
	$(BIN)/python -m docs_tools.pages

screenshots: $(VENV)/.dev     ## take the pictures of README and documentation again; ONLY="graph history" takes some (needs Chromium)
	$(BIN)/python -m docs_tools.screenshots $(ONLY)

sites: $(VENV)/.dev           ## build the frozen sites that are not in git, out of Debian packages, with checksums
	$(BIN)/python -m evals.sites.build_debian

bench-index: $(VENV)/.runtime ## pages per CPU-second and memory of indexing the frozen site, and four sites of small pages
	$(BIN)/python -m benchmarks.corpus.index
	$(BIN)/python -m benchmarks.corpus.index --ordinary

bench-storage: $(VENV)/.runtime ## bytes per page of the frozen site, by table
	$(BIN)/python -m benchmarks.corpus.storage

bench-conversion: $(VENV)/.runtime ## what of the frozen site's code, tables and definitions survives conversion
	$(BIN)/python -m benchmarks.corpus.conversion

bench-plain-text: $(VENV)/.runtime ## whether facts in manuals that are laid out with blanks are found and answered
	$(BIN)/python -m benchmarks.corpus.plain_text_questions

bench-crash: $(VENV)/.runtime ## kill -9 at 100 points while indexing, 50 while refreshing; compare with an undisturbed corpus
	$(BIN)/python -m benchmarks.corpus.crash
	$(BIN)/python -m benchmarks.corpus.crash --refresh --kills 50

bench-race: $(VENV)/.runtime ## 8 processes, the same 50 pages, 5 rounds: nothing doubled, nothing embedded twice
	$(BIN)/python -m benchmarks.corpus.race

bench-hostile: $(VENV)/.runtime ## bombs, floods, drips and poison pages, each beside a page that must not suffer
	$(BIN)/python -m benchmarks.corpus.hostile

bench-retrieval: $(VENV)/.runtime ## 720 questions with evidence spans: ranking quality, with baselines
	$(BIN)/webrag eval retrieval

bench-refresh: $(VENV)/.runtime ## what an unchanged site and one edited section cost
	$(BIN)/python -m benchmarks.corpus.refresh

bench-ledger: $(VENV)/.runtime ## checks of a source among 10 million ledger rows, admission of MCP calls among a million links
	$(BIN)/python -m benchmarks.corpus.ledger

bench-query: $(VENV)/.runtime ## one whole query among 100,000 children, phase by phase
	$(BIN)/python -m benchmarks.retrieval.query

bench-lexical: $(VENV)/.runtime ## what BM25's bounded reading loses among 100,000 children, and what scopes do to its weights
	$(BIN)/python -m benchmarks.retrieval.lexical

bench-typing: $(VENV)/.runtime ## typing errors in words of three frozen sites, and right words: what is searched for in their place
	for site in postfix-3.7 tomcat-10.1 libreoffice-writer-7.4; do $(BIN)/webrag ingest --warc evals/sites/$$site.warc.gz || exit 1; done
	$(BIN)/python -m benchmarks.retrieval.typing_errors www.postfix.org tomcat.apache.org help.libreoffice.org

bench-scope: $(VENV)/.runtime ## what resolving and measuring a scope costs among 10,000, 100,000 and 400,000 documents
	$(BIN)/python -m benchmarks.retrieval.scope

bench-vectors: $(VENV)/.runtime ## dense search at 10,000 and 100,000 vectors: recall, time and loading, in every kind of scope
	$(BIN)/python -m benchmarks.retrieval.vectors

bench-windows: $(VENV)/.runtime ## search with and without window vectors, on sites with answer keys; what reading costs
	$(BIN)/python -m benchmarks.retrieval.windows

bench-reading: $(VENV)/.dev     ## windows that the reading model reads per CPU-second: whole numbers, real ones, its own graph
	$(BIN)/python -m benchmarks.retrieval.reading

bench-peers: $(VENV)/.runtime .venv-peers/.installed ## the same pages and questions beside LlamaIndex with pgvector and BM25 with MiniLM: half an hour
	$(BIN)/python -m benchmarks.peers.bench

bench-languages: $(VENV)/.runtime ## XQuAD in twelve languages, beside BM25 and dense search alone: FOLDER=... holds its files
	$(BIN)/python -m benchmarks.retrieval.languages $(FOLDER)

bench-sitewalk: $(VENV)/.runtime ## the loop on the sites that nothing was fitted on, with twins, then stored (after make sites)
	for site in tomcat-10.1 postfix-3.7 debian-policy-4.6 libreoffice-writer-7.4 git-2.39 maxima-5.46; do \
	  for condition in twins stored; do $(BIN)/webrag eval sitewalk --$$condition --golden evals/golden/sitewalk-$$site.jsonl \
	    --warc evals/sites/$$site.warc.gz --out runs/$$site-$$condition.jsonl || exit 1; done; done

bench-answers: $(VENV)/.dev    ## answers held to answer keys on the sites that nothing was fitted on, and every proof (after make sites)
	$(BIN)/webrag eval answers --split reporting --out runs/answers-reporting.jsonl
	$(BIN)/python -m evals.answers.evidence --split reporting --stored --out runs/stored-reporting.jsonl
	$(BIN)/python -m evals.answers.proofs --split reporting --evidence runs/stored-reporting.jsonl
	$(BIN)/python -m evals.answers.key_walks --split reporting --every 4 --out runs/key-walks-reporting.jsonl

bench-dialogue: $(VENV)/.runtime ## questions that follow another one: what they find, beside their full questions
	$(BIN)/python -m evals.dialogue.follow_ups

bench-routes: $(VENV)/.runtime ## the router's rules, and its regret against the best agent in hindsight
	$(BIN)/webrag eval routes
	$(BIN)/python -m evals.retrieval.tables

bench-history: $(VENV)/.dev    ## past texts, states of citations, diffs and past search, on releases of real documentation
	$(BIN)/python -m evals.sites.build_versions
	for pair in "python-3.11 python-3.13" "python-3.13 python-3.14" "git-2.39 git-2.47" "policy-4.6 policy-4.7.2" \
	  "postgresql-15 postgresql-17"; do $(BIN)/python -m evals.history.citation_states $$pair || exit 1; done
	for series in "python-3.9 python-3.11 python-3.13 python-3.14" "policy-4.5 policy-4.6 policy-4.7.2 policy-4.7.4"; do \
	  $(BIN)/python -m evals.history.past $$series || exit 1; done
	$(BIN)/python -m benchmarks.corpus.citation_checks

bench-graph: $(VENV)/.dev      ## the graph at 100,000 pages, accuracy, what extraction costs
	$(BIN)/python -m benchmarks.graph.scale
	$(BIN)/python -m evals.graph.accuracy
	$(BIN)/python -m benchmarks.graph.share

bench-goldens: $(VENV)/.runtime ## every claim of the goldens and answer keys of all frozen sites, against the sites' own pages
	$(BIN)/python -m evals.walks.check_goldens
	$(BIN)/python -m evals.answers.check_keys

bench-walks: $(VENV)/.runtime ## 1,000 generated sites, every stop policy, random limits: what must hold for every walk
	$(BIN)/python -m benchmarks.loop.walks

bench-answer: $(VENV)/.runtime ## what an answer costs when no page has to be fetched, phase by phase
	$(BIN)/python -m benchmarks.loop.answer

bench-start: $(VENV)/.runtime  ## help, search and ask by command, with a server of the corpus and without, beside REST
	$(BIN)/python -m benchmarks.loop.start

bench-functions: $(VENV)/.dev  ## files and functions of the core that a warm question enters
	$(BIN)/python -m benchmarks.loop.functions

bench-model: $(VENV)/.dev      ## the whole path on a real model of this machine, by llama.cpp: MODEL=FILE.gguf (minutes a question)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-model.txt
	$(BIN)/python -m benchmarks.models.whole_path $(MODEL)

bench-mcp: $(VENV)/.runtime   ## search through stdio, tokens of a response, fifty answers at once
	$(BIN)/python -m benchmarks.mcp.search

bench-first-visit: $(VENV)/.dev ## the first visit in a browser: from the empty start page to the first right answer, clicks and seconds
	$(BIN)/python -m benchmarks.web.first_visit

bench-web: $(VENV)/.dev       ## the page to ask on: time until something is seen, weight, requests, barriers
	$(BIN)/python -m benchmarks.web.pages

bench-health: $(VENV)/.dev       ## how long /health waits beside every route, and beside storing each kind of hostile page
	$(BIN)/python -W ignore -m benchmarks.web.health

bench-security: $(VENV)/.dev     ## attacks on every door: addresses, page text, sessions, the database, the web pages, a foreign web page
	for attack in addresses forgeries obedient_model planted_answers sessions database_faults foreign_site web_pages; do \
	  $(BIN)/python -W ignore -m benchmarks.security.$$attack || exit 1; done

bench-api: $(VENV)/.dev          ## generated requests to every endpoint of REST, valid and broken, by its own description
	$(BIN)/python -W ignore -m benchmarks.security.rest_cases

bench-watch: $(VENV)/.runtime ## with Dagster's real daemon: from a changed page to its new vectors, and what else ran
	$(BIN)/python -m benchmarks.platform.watch

bench-growth: $(VENV)/.runtime  ## how the processor time of what reads foreign text grows with its length
	$(BIN)/python -m benchmarks.security.growth

bench-naughty: $(VENV)/.dev    ## every string of the Big List of Naughty Strings in every argument, page and question
	EVERY_ARGUMENT=1 $(BIN)/pytest tests/test_naughty_strings.py tests/mcp_server/test_hostile.py

bench-platform: $(VENV)/.dev ## answers launched in the UI, and loading, ticks and partition pages with 200 sources
	$(BIN)/python -W ignore -m benchmarks.platform.platform

bench-ticks: $(VENV)/.dev    ## a tick of each sensor and of the automation with 5,000 partitions, when nothing happened
	$(BIN)/python -W ignore -m benchmarks.platform.ticks

bench-month: $(VENV)/.dev    ## a month of a site with its bad days, day by day: what is stored, what is asked, who is told
	$(BIN)/python -W ignore -m benchmarks.platform.month

bench-faults: $(VENV)/.dev     ## full disks, clocks a year off, kills of command and database in each phase, two versions: a quarter of an hour
	$(BIN)/pytest -n 0 --timeout 900 tests/faults

bench-kill: $(VENV)/.runtime  ## kill -9 of run, daemon and code server at 20 points each; nobody helps
	$(BIN)/python -W ignore -m benchmarks.platform.kill

bench-workers: $(VENV)/.dev    ## Celery workers, 1, 2 and 4: throughput, a worker and the broker killed, politeness (needs redis-server)
	$(BIN)/python -W ignore -m benchmarks.platform.workers

bench-install: $(VENV)/.dev   ## plain and every extra in fresh environments: packages, megabytes, import; systems with wheels
	$(BIN)/python -m benchmarks.packaging.install --largest 15
	$(BIN)/python -m benchmarks.packaging.platforms --extra standard

$(BIN)/uv: requirements-uv.txt
	@$(PYTHON) -c 'import sys; sys.exit("WebRAG needs Python 3.11 or newer, found " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.txt
	@touch $@

$(VENV)/.runtime: requirements.txt pyproject.toml $(BIN)/uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-dev.txt
	@touch $@

$(VENV)/.docs: requirements-docs.txt $(VENV)/.runtime
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-docs.txt
	@touch $@

# copied, not linked: nltk refuses to read files that have a second name
.venv-peers/.installed: requirements-peers.txt $(BIN)/uv
	$(PYTHON) -m venv .venv-peers
	$(BIN)/uv pip install --quiet --link-mode copy --python .venv-peers/bin/python --require-hashes -r requirements-peers.txt
	@touch $@

requirements: $(BIN)/uv       ## compile the pinned requirements again (no addresses in the files)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make requirements' --extra build --extra dagster --extra serve --extra standard pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make requirements' --extra all --extra build --extra dev -c requirements.txt pyproject.toml -o requirements-dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make requirements' --group docs -c requirements-dev.txt -o requirements-docs.txt
	printf '%s\n' ipykernel jupytext nbclient | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make requirements' -c requirements.txt -c requirements-dev.txt - -o requirements-notebook.txt
	echo xllamacpp | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make requirements' - -o requirements-model.txt
	printf '%s\n' $(PEERS) | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make requirements' -c requirements.txt - -o requirements-peers.txt
	echo uv | $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command 'make requirements' - -o requirements-uv.txt

notebook: $(VENV)/.dev        ## docs/examples/first-steps.ipynb: made anew from first_steps.py, and executed
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-notebook.txt
	$(BIN)/jupytext --quiet --to ipynb --output docs/examples/first-steps.ipynb docs/examples/first_steps.py
	home=$$(mktemp -d) && chmod 755 $$home && cd docs/examples && WEBRAG_HOME=$$home \
	  $(CURDIR)/$(BIN)/jupyter-execute --NotebookClient.record_timing=False --inplace first-steps.ipynb && \
	  WEBRAG_HOME=$$home $(CURDIR)/$(BIN)/webrag status > /dev/null && rm -rf $$home  # the last to leave stops the server

clean:
	rm -rf $(VENV) .venv-peers .webrag
