-- Stable views for checks from outside. Tables beneath may change; these do not.

CREATE SCHEMA contract;

CREATE VIEW contract.v_document AS
SELECT d.id AS doc_id, d.canonical_url AS url_canonical, v.number AS version,
       coalesce(v.id = d.current_version, false) AS is_current, d.status, d.reason,
       v.sha256 AS content_sha256, v.markdown AS text, v.fetched_at, d.updated_at
FROM documents d LEFT JOIN document_versions v ON v.document_id = d.id;

-- n_expected: how many chunks of this level the version has when it is whole
CREATE VIEW contract.v_chunk AS
SELECT c.id AS chunk_id, c.document_id AS doc_id, v.number AS version, c.level, c.ordinal AS ord,
       c.char_start AS start_off, c.char_end AS end_off, c.body AS text,
       CASE c.level WHEN 'parent' THEN v.parent_count ELSE v.child_count END AS n_expected
FROM chunks c JOIN document_versions v ON v.id = c.version_id;

-- empty until a model goes live; then it is made again over that model's table
CREATE VIEW contract.v_embedding AS
SELECT NULL::bigint AS chunk_id, NULL::text AS model, NULL::integer AS dim, NULL::vector AS vec WHERE false;

CREATE VIEW contract.v_fetch AS
SELECT url, hop, coalesce(http_status::text, outcome) AS status, reason, bytes_raw, bytes_decoded, started_at
FROM fetch_log;

CREATE VIEW contract.v_request AS
SELECT url AS url_submitted, run_id, outcome AS state, reason,
       count(*) OVER (PARTITION BY url, run_id) AS attempts
FROM fetch_log;

CREATE VIEW contract.v_answer AS
SELECT a.id AS answer_id, a.query, a.action, a.rule,
       coalesce((SELECT jsonb_agg(jsonb_build_object(
                    'number', c.number, 'url', d.canonical_url, 'version', v.number, 'start', c.char_start,
                    'end', c.char_end, 'sha256', c.quote_sha256, 'heading', c.heading,
                    'quote', substring(v.markdown FROM c.char_start + 1 FOR c.char_end - c.char_start)
                 ) ORDER BY c.number)
                 FROM citations c JOIN document_versions v ON v.id = c.version_id
                 JOIN documents d ON d.id = v.document_id
                 WHERE c.answer_id = a.id), '[]'::jsonb) AS citations
FROM answer_runs a;
