-- Texts of child chunks that are searched by words only: those that wait for the model's endpoint, and those that it
-- refuses. By text, as embedding_cache; a row goes when the text has a vector.

CREATE TABLE texts_without_vector (
    model_id integer NOT NULL REFERENCES embedding_models ON DELETE CASCADE,
    text_sha256 text NOT NULL,                   -- as chunks.embed_sha256
    refused boolean NOT NULL,
    reason text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (model_id, text_sha256)
);

COMMENT ON COLUMN texts_without_vector.text_sha256 IS 'of the text of a child chunk: chunks.embed_sha256';
COMMENT ON COLUMN texts_without_vector.refused IS 'not sent again; false = sent again when its page or a bulk is indexed';
COMMENT ON COLUMN texts_without_vector.reason IS 'of the last failure, without words of the endpoint';
