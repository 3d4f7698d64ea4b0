-- Models that tell documents from queries: how documents were sent belongs to the identity of their vectors.

ALTER TABLE embedding_models ADD COLUMN inputs text NOT NULL DEFAULT '';
ALTER TABLE embedding_models DROP CONSTRAINT embedding_models_provider_name_dimensions_normalisation_key;
ALTER TABLE embedding_models ADD UNIQUE (provider, name, dimensions, normalisation, inputs);

-- so that lists of pages need not read every text
ALTER TABLE document_versions ADD COLUMN characters integer GENERATED ALWAYS AS (length(markdown)) STORED;
