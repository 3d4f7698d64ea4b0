-- The traces that runs, tasks and fetches belong to: 32 hexadecimal digits (W3C Trace Context). NULL: older than this, or
-- written outside of a trace.

ALTER TABLE answer_runs ADD COLUMN trace_id text;
ALTER TABLE route_tasks ADD COLUMN trace_id text;
ALTER TABLE fetch_log ADD COLUMN trace_id text;
CREATE INDEX fetch_log_trace ON fetch_log (trace_id) WHERE trace_id IS NOT NULL;

CREATE OR REPLACE VIEW contract.v_task AS
SELECT answer_id, iteration, id, agent, kind, params, status, error ->> 'code' AS code, error ->> 'message' AS message,
       milliseconds, jsonb_array_length(output -> 'evidence') AS passages,
       jsonb_array_length(output -> 'findings') AS findings, (output ->> 'pages')::integer AS pages, trace_id
FROM route_tasks;
