"""The only place with SQL: the schema and its migrations, the writer, the readers, the rows."""
