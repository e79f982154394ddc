"""The endpoints, one module for each resource; `table` lists them all."""
