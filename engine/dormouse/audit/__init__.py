"""Looking after memory: everything told in one order, compared, counted, and put right."""
