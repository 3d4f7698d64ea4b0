-- Plans of answers in prose, and what became of each of their tasks: enough to compose the answer again without asking.

ALTER TABLE answer_runs ADD COLUMN plan jsonb;             -- the first plan; NULL before there were plans

CREATE TABLE route_tasks (
    answer_id    bigint NOT NULL REFERENCES answer_runs ON DELETE CASCADE,
    iteration    integer NOT NULL,                         -- 1 = the first plan
    ordinal      integer NOT NULL,                         -- in its plan
    id           text NOT NULL,
    agent        text NOT NULL,
    kind         text NOT NULL,
    params       jsonb NOT NULL,
    status       text NOT NULL CHECK (status IN ('success', 'empty', 'error', 'timeout', 'skipped', 'cancelled')),
    error        jsonb,                                    -- code, message, retry_at
    milliseconds double precision NOT NULL,
    output       jsonb NOT NULL,                           -- evidence and findings by version and span, without text
    PRIMARY KEY (answer_id, iteration, id)
);

CREATE VIEW contract.v_task AS
SELECT answer_id, iteration, id, agent, kind, params, status, error ->> 'code' AS code, error ->> 'message' AS message,
       milliseconds, jsonb_array_length(output -> 'evidence') AS passages,
       jsonb_array_length(output -> 'findings') AS findings, (output ->> 'pages')::integer AS pages
FROM route_tasks;
