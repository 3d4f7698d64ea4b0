-- What endpoints were asked for, by day: requests, tokens and pages are counted, prices are not stored.

CREATE TABLE spending (
    day date NOT NULL,                           -- UTC
    provider text NOT NULL,                      -- as the file of prices names it
    requests bigint NOT NULL DEFAULT 0 CHECK (requests >= 0),
    untold bigint NOT NULL DEFAULT 0 CHECK (untold >= 0),
    input_tokens bigint NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
    output_tokens bigint NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
    pages bigint NOT NULL DEFAULT 0 CHECK (pages >= 0),
    PRIMARY KEY (day, provider)
);

COMMENT ON COLUMN spending.day IS 'in UTC';
COMMENT ON COLUMN spending.provider IS 'kind and model, as the file of prices names it';
COMMENT ON COLUMN spending.requests IS 'requests that were answered';
COMMENT ON COLUMN spending.untold IS 'those of a model whose tokens the endpoint did not tell';
COMMENT ON COLUMN spending.input_tokens IS 'tokens that were sent, as the endpoint counts them';
COMMENT ON COLUMN spending.output_tokens IS 'tokens that came back, as the endpoint counts them';
COMMENT ON COLUMN spending.pages IS 'pages that a provider delivered';
