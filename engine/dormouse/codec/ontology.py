"""An ontology's blob: its terms, ready to be used, before the file as it was uploaded."""

from functools import cache

from pydantic import TypeAdapter

from dormouse.codec.frame import pack, unpack
from dormouse.model.ontology import Ontology

_TAG = b"DMO1"


def encode_ontology(ontology: Ontology, file: bytes) -> bytes:
    return pack(_TAG, _adapter().dump_json(ontology), file)


def decode_ontology(blob: bytes) -> Ontology:
    return _adapter().validate_json(unpack(_TAG, blob)[0])


def original_of(blob: bytes) -> bytes:
    return bytes(unpack(_TAG, blob)[1])


@cache
def _adapter() -> TypeAdapter[Ontology]:
    return TypeAdapter(Ontology)
