-- Where a quote stands now: evaluated once for each citation and each new version of its page.

CREATE TABLE citation_checks (
    answer_id       bigint NOT NULL,
    number          integer NOT NULL,
    against_version integer NOT NULL,                      -- what the page is now; 0: it is gone
    state           text NOT NULL CHECK (state IN ('moved', 'valid', 'changed', 'gone')),
    how             text NOT NULL CHECK (how IN ('same', 'text', 'markup', 'page', 'reworded', 'lost')),
    kept            real NOT NULL CHECK (kept BETWEEN 0 AND 1),
    sentences       integer NOT NULL,                      -- of the quote, and how many of them stand unchanged
    standing        integer NOT NULL,
    facts_changed   text[] NOT NULL,
    context_changed boolean NOT NULL,
    ambiguous       boolean NOT NULL,
    cause           text NOT NULL CHECK (cause IN ('page', 'extractor', 'unsure')),
    now_version     integer REFERENCES document_versions ON DELETE CASCADE,
    now_start       integer,
    now_end         integer,
    checked_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (answer_id, number, against_version),
    FOREIGN KEY (answer_id, number) REFERENCES citations ON DELETE CASCADE
);
CREATE INDEX citation_checks_now ON citation_checks (now_version) WHERE now_version IS NOT NULL;
