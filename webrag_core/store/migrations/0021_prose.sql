-- Answers in prose: runs of their own, whose sentences cite spans like every other answer.

ALTER TABLE answer_runs
    ADD COLUMN kind text NOT NULL DEFAULT 'evidence' CHECK (kind IN ('evidence', 'prose')),
    ADD COLUMN prose jsonb,                                -- what a finished answer says beside its sentences
    ALTER COLUMN seed_url DROP NOT NULL,                   -- a question to the stored pages has no start page
    ALTER COLUMN policy DROP NOT NULL,                     -- the runs that gathered its evidence have one
    ADD CHECK (kind = 'prose' OR (seed_url IS NOT NULL AND policy IS NOT NULL));

CREATE TABLE answer_sentences (
    answer_id bigint NOT NULL REFERENCES answer_runs ON DELETE CASCADE,
    ordinal   integer NOT NULL,
    text      text NOT NULL,
    proof     text NOT NULL CHECK (proof IN ('verbatim', 'trimmed', 'assembled', 'paraphrase')),
    part      integer NOT NULL,                            -- of the question
    support   double precision NOT NULL CHECK (support BETWEEN 0 AND 1),
    PRIMARY KEY (answer_id, ordinal)
);

CREATE TABLE sentence_citations (
    answer_id bigint NOT NULL,
    ordinal   integer NOT NULL,
    number    integer NOT NULL,
    PRIMARY KEY (answer_id, ordinal, number),
    FOREIGN KEY (answer_id, ordinal) REFERENCES answer_sentences ON DELETE CASCADE,
    FOREIGN KEY (answer_id, number) REFERENCES citations (answer_id, number)
);
CREATE INDEX sentence_citations_number ON sentence_citations (answer_id, number);

CREATE VIEW contract.v_sentence AS
SELECT s.answer_id, s.ordinal, s.text, s.proof, s.support,
       array(SELECT c.number FROM sentence_citations c WHERE c.answer_id = s.answer_id AND c.ordinal = s.ordinal
             ORDER BY c.number) AS citations
FROM answer_sentences s;
