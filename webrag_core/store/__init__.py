"""PostgreSQL: the embedded server, the pool, the migrations."""
