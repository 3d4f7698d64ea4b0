-- What a version was last made of, as one digest: a page that is asked whole and has the same inputs is not read again.

ALTER TABLE document_versions ADD COLUMN inputs_sha256 text CHECK (length(inputs_sha256) = 64);
