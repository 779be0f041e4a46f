"""Ontologies to terms, by rdflib."""
