"""The store of cases. The only room that knows DuckDB."""
