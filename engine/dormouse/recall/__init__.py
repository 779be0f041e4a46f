"""Recall: understand the query, nominate, score, hydrate, and say honestly when nothing was found."""
