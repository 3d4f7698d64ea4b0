-- What an embedding model's endpoint charged for this corpus, in tokens as it counts them (usage.prompt_tokens).

ALTER TABLE embedding_models ADD COLUMN tokens bigint NOT NULL DEFAULT 0;
