import pytest

from dormouse.adapters.ontology_reader.rdflib import form_of
from dormouse.adapters.ontology_reader.read_main import is_hostile, read

RDF = b"""<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY owl "http://www.w3.org/2002/07/owl#"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
         xmlns:owl="&owl;" xml:base="http://example.org/hr">
  <owl:Ontology rdf:about=""><owl:imports rdf:resource="http://127.0.0.1:9/never"/></owl:Ontology>
  <owl:Class rdf:about="#Person"/>
  <owl:Class rdf:about="#Staff_Member"><rdfs:subClassOf rdf:resource="#Person"/></owl:Class>
  <rdf:Description rdf:about="#Carol"><rdf:type rdf:resource="#Staff_Member"/></rdf:Description>
</rdf:RDF>"""
TURTLE = b"""@prefix : <http://example.org/t#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:TeaPot a owl:Class ; rdfs:label "Theekanne"@de , "Teapot"@en ;
  rdfs:subClassOf owl:Thing , [ a owl:Restriction ] .
:brown_betty a :TeaPot , owl:NamedIndividual ; skos:altLabel "Betty" ; :madeIn :stoke ; :weight 3 .
:stoke a owl:NamedIndividual .
"""
LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE r [ <!ENTITY a "ha"> <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">&b;</rdf:RDF>"""


def test_an_ontology_in_xml_gives_its_classes_and_individuals_and_imports_nothing() -> None:
    found = read(RDF, "xml")["terms"]

    assert [
        (term["name"], term["is_class"], [iri.rpartition("#")[2] for iri in term["broader"]]) for term in found
    ] == [
        ("Carol", False, ["Staff_Member"]),
        ("Person", True, []),
        ("Staff Member", True, ["Person"]),
    ]


def test_an_ontology_in_turtle_gives_labels_other_names_and_relations() -> None:
    pot, betty, stoke = sorted(read(TURTLE, "turtle")["terms"], key=lambda term: not term["is_class"])

    assert (pot["name"], pot["names"]) == ("Teapot", ["Tea Pot", "TeaPot", "Teapot", "Theekanne"])
    assert pot["broader"] == []
    assert betty["names"] == ["Betty", "brown betty", "brown_betty"]
    assert betty["relations"] == [("madeIn", stoke["iri"])]


@pytest.mark.parametrize(
    "hostile",
    [
        LAUGHS,
        b'<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><r/>',
        b'<!DOCTYPE r [ <!ENTITY x SYSTEM "file:///etc/passwd"> ]><r>&x;</r>',
        b'<!DOCTYPE r [ <!ENTITY % x PUBLIC "-//x" "http://127.0.0.1:9/"> %x; ]><r/>',
        b"<!DOCTYPE r [ <!ENTITY x '" + b"y" * 5000 + b"'> ]><r>&x;</r>",
        '<!DOCTYPE r SYSTEM "x"><r/>'.encode("utf-16"),
    ],
)
def test_what_fetches_or_multiplies_is_refused_before_it_is_parsed(hostile: bytes) -> None:
    assert is_hostile(hostile)
    assert read(hostile, "xml") == {"refused": "external"}


def test_plain_entities_are_read() -> None:
    assert not is_hostile(RDF)


@pytest.mark.parametrize(
    ("content", "form", "reason"),
    [
        (b"<rdf:RDF", "xml", "damaged"),
        (b"not turtle at all", "turtle", "damaged"),
        (b"\xff\x00\x01", "nt", "damaged"),
        (b"", "turtle", "empty"),
        (b"<http://a/s> <http://a/p> <http://a/o> .", "nt", "empty"),
    ],
)
def test_what_is_no_ontology_is_told_in_a_word(content: bytes, form: str, reason: str) -> None:
    assert read(content, form) == {"refused": reason}


@pytest.mark.parametrize(
    ("content", "name", "form"),
    [
        (RDF, "hr.owl", "xml"),
        (TURTLE, "tea.owl", "turtle"),
        (b"\xef\xbb\xbf  <rdf:RDF/>", "a.rdf", "xml"),
        (TURTLE, "tea.TTL", "turtle"),
        (b"", "a.nt", "nt"),
        (TURTLE, "tea.jsonld", None),
        (TURTLE, "tea", None),
    ],
)
def test_the_format_is_told_by_name_and_bytes(content: bytes, name: str, form: str | None) -> None:
    assert form_of(content, name) == form
