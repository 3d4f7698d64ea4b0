-- Which version of the package applied a migration, so that an older one can name the version that reads the corpus.
ALTER TABLE schema_migrations ADD COLUMN version text;
