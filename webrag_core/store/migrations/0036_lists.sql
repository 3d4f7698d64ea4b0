-- Lists that read what they show, however much is stored.

SET CONSTRAINTS ALL IMMEDIATE;                             -- earlier files of one upgrade may have deferred checks

-- Runs that gathered evidence before that was noted: the answers that used them name them.
UPDATE answer_runs SET origin = 'answer'
WHERE kind = 'evidence' AND origin IS NULL AND id IN (
    SELECT e::bigint FROM answer_runs p
    CROSS JOIN LATERAL jsonb_array_elements_text(p.prose -> 'evidence_ids') e WHERE p.kind = 'prose');
CREATE INDEX answer_runs_listed ON answer_runs (id) WHERE state <> 'failed' AND origin IS DISTINCT FROM 'answer';
