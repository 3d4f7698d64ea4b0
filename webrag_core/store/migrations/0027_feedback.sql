-- What people and models say about answers, and what an answer considered. Nothing is learned from it by itself.

CREATE TABLE feedback (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    answer_id         bigint NOT NULL REFERENCES answer_runs ON DELETE CASCADE,
    sentence          integer,                             -- by its number in the answer; or a quote by its number
    citation          integer,
    kind              text NOT NULL CHECK (kind IN ('helpful', 'wrong', 'missing', 'better_source', 'wrong_route')),
    value             smallint NOT NULL CHECK (value BETWEEN -2 AND 2 AND (kind = 'helpful') = (value > 0)),
    text              text,
    suggested         jsonb,                               -- a span that was proved when it came in
    suggested_version integer REFERENCES document_versions,
    actor             text NOT NULL CHECK (actor <> ''),
    actor_kind        text NOT NULL CHECK (actor_kind IN ('person', 'operator', 'model')),
    weight            real NOT NULL CHECK (weight BETWEEN 0 AND 1),
    state             text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'accepted', 'rejected')),
    created_at        timestamptz NOT NULL DEFAULT now(),
    CHECK (sentence IS NULL OR citation IS NULL),
    CHECK ((suggested IS NULL) = (suggested_version IS NULL)),
    CHECK (state <> 'rejected' OR weight = 0),
    CHECK (actor_kind <> 'model' OR state = 'accepted' OR weight = 0)
);
CREATE INDEX feedback_answer ON feedback (answer_id);
CREATE INDEX feedback_version ON feedback (suggested_version) WHERE suggested_version IS NOT NULL;

CREATE TABLE exposures (
    answer_id  bigint NOT NULL REFERENCES answer_runs ON DELETE CASCADE,
    rank       integer NOT NULL CHECK (rank > 0),
    chunk_id   bigint NOT NULL,                            -- gone when its page has another text
    agent      text NOT NULL CHECK (agent <> ''),          -- who found it: corpus, pages, …
    shown      boolean NOT NULL,                           -- whether the answer quotes it
    propensity real CHECK (propensity > 0 AND propensity <= 1),  -- of being considered; NULL: not known
    PRIMARY KEY (answer_id, rank)
);
CREATE INDEX exposures_chunk ON exposures (chunk_id);

CREATE VIEW contract.v_feedback AS
SELECT f.id AS feedback_id, f.answer_id, f.sentence, f.citation, f.kind, f.value, f.text, f.suggested, f.actor,
       f.actor_kind, f.weight, f.state, f.created_at
FROM feedback f;

CREATE VIEW contract.v_exposure AS
SELECT e.answer_id, e.rank, e.chunk_id, e.agent, e.shown, e.propensity FROM exposures e;
