"""A user's ontologies: uploaded under keys of their own, named when something is remembered.

What was grounded stays as it is when its ontology is deleted: passages keep the names that they got. What is
accepted and not yet extracted then is extracted without it, as nothing accepted may fail for that.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dormouse.codec.ontology import decode_ontology, encode_ontology, original_of
from dormouse.errors import InvalidInputError, NotFoundError, TooLargeError, UnknownOntologyError
from dormouse.ids import BlobKey, PrincipalId, ontology_id
from dormouse.ingest.ground import Vocabulary, vocabulary
from dormouse.model.document import Original
from dormouse.model.ontology import MAX_OF_A_USER, MAX_SIZE_BYTES, OntologyRow
from dormouse.model.scope import Scope
from dormouse.ports.blob_store import BlobStore
from dormouse.ports.catalog.transaction import Catalog
from dormouse.ports.ontology_reader import OntologyReader

OPTION = "ontology_keys"  # of `Content.options`: a JSON list
MAX_KEYS = 10  # of one item
MAX_KEY_CHARACTERS = 128
MAX_DESCRIPTION_CHARACTERS = 1000
MAX_FILENAME_CHARACTERS = 200
KEPT_VOCABULARIES = 8

_KEY = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{MAX_KEY_CHARACTERS - 1}}}")


@dataclass(frozen=True, slots=True)
class Upload:
    """An ontology's file as somebody hands it over."""

    key: str
    filename: str
    content: bytes
    description: str = ""


@dataclass(frozen=True, slots=True)
class Grounding:
    """`version` names the vocabulary, empty for none: results of another one are never copied."""

    version: str = ""
    known: Vocabulary = field(default_factory=Vocabulary)

    def of_results(self, extractor: str) -> str:
        """The version of what this extractor finds, once it is grounded."""
        return f"{extractor} in {self.version}" if self.version else extractor


class Ontologies:
    def __init__(self, catalog: Catalog, blobs: BlobStore, reader: OntologyReader) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._reader = reader
        self._kept: OrderedDict[tuple[BlobKey, ...], Vocabulary] = OrderedDict()

    async def add(self, scope: Scope, upload: Upload) -> OntologyRow:
        """Read, checked and stored. Raises `InvalidInputError` for a key that is taken or ill-formed, and
        `UnreadableDocumentError`; nothing was stored then."""
        _check(upload)
        self._refuse_taken(await self._owned(scope.principal), upload.key)
        ontology = await self._reader.read(upload.content, upload.filename)
        prefix = ontology_id(scope.principal, upload.key)
        blob = await self._blobs.put(scope.workspace, prefix, encode_ontology(ontology, upload.content))
        async with self._catalog.transaction() as tx:
            self._refuse_taken(await tx.ontologies.owned_by(scope.principal), upload.key)
            row = OntologyRow(
                workspace=scope.workspace,
                owner=scope.principal,
                key=upload.key,
                filename=upload.filename,
                description=upload.description,
                size_bytes=len(upload.content),
                blob=blob,
                created_ms=tx.now_ms,
            )
            await tx.ontologies.add(row)
            await tx.commit()
        return row

    async def of(self, scope: Scope) -> Sequence[OntologyRow]:
        """The caller's own, by key."""
        return await self._owned(scope.principal)

    async def original(self, scope: Scope, key: str) -> Original:
        """The file as it was uploaded; raises `NotFoundError`."""
        row = next((each for each in await self._owned(scope.principal) if each.key == key), None)
        if row is None:
            raise NotFoundError("Ontology key not found or invalid.")
        return Original(row.filename, original_of(await self._blobs.get(row.blob)))

    async def remove(self, scope: Scope, key: str) -> None:
        """Raises `NotFoundError`."""
        async with self._catalog.transaction() as tx:
            row = await tx.ontologies.remove(scope.principal, key)
            if row is None:
                raise NotFoundError("Ontology key not found or invalid.")
            await tx.commit()
        await self._blobs.erase(row.blob)

    async def check(self, scope: Scope, options: Mapping[str, str]) -> None:
        """Raises `UnknownOntologyError` for the first key that is not the caller's."""
        keys = keys_of(options)
        if not keys:
            return
        if len(keys) > MAX_KEYS:
            raise InvalidInputError(f"ontology_key: at most {MAX_KEYS} for one item", field="ontology_key")
        known = {row.key for row in await self._owned(scope.principal)}
        unknown = next((key for key in keys if key not in known), None)
        if unknown is not None:
            raise UnknownOntologyError(unknown)

    async def grounding(self, owner: PrincipalId, options: Mapping[str, str]) -> Grounding:
        """What the keys in `options` stand for now."""
        keys = keys_of(options)
        if not keys:
            return Grounding()
        rows = {row.key: row for row in await self._owned(owner)}
        blobs = tuple(rows[key].blob for key in keys if key in rows)
        if not blobs:
            return Grounding()
        # A blob's key ends in its hash.
        version = "+".join(blob.rpartition("/")[2][:16] for blob in blobs)
        return Grounding(version, await self._vocabulary(blobs))

    async def _vocabulary(self, blobs: tuple[BlobKey, ...]) -> Vocabulary:
        if blobs not in self._kept:
            self._kept[blobs] = vocabulary([decode_ontology(await self._blobs.get(blob)) for blob in blobs])
            if len(self._kept) > KEPT_VOCABULARIES:
                self._kept.popitem(last=False)
        return self._kept[blobs]

    async def _owned(self, owner: PrincipalId) -> Sequence[OntologyRow]:
        async with self._catalog.reading() as tx:
            return await tx.ontologies.owned_by(owner)

    @staticmethod
    def _refuse_taken(held: Sequence[OntologyRow], key: str) -> None:
        if any(row.key == key for row in held):
            raise InvalidInputError("Ontology key already exists.", field="ontology_key")
        if len(held) >= MAX_OF_A_USER:
            raise InvalidInputError(
                f"at most {MAX_OF_A_USER} ontologies: delete one first", field="ontology_key"
            )


def keys_of(options: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(json.loads(options.get(OPTION, "[]"))))


def option_of(keys: Sequence[str]) -> dict[str, str]:
    """What to add to the options of content that is to be grounded in these."""
    return {OPTION: json.dumps(list(keys))} if keys else {}


def _check(upload: Upload) -> None:
    if not _KEY.fullmatch(upload.key):
        raise InvalidInputError(
            f"an ontology key has up to {MAX_KEY_CHARACTERS} letters, digits, dots, dashes and underscores, "
            "and begins with a letter or digit",
            field="ontology_key",
        )
    if len(upload.description) > MAX_DESCRIPTION_CHARACTERS:
        raise InvalidInputError(
            f"description may have at most {MAX_DESCRIPTION_CHARACTERS} characters", field="description"
        )
    name = upload.filename
    if not 0 < len(name) <= MAX_FILENAME_CHARACTERS or not name.isprintable():
        raise InvalidInputError("ontology_file needs a name, of printable characters", field="ontology_file")
    if len(upload.content) > MAX_SIZE_BYTES:
        raise TooLargeError(f"ontology_file may have {MAX_SIZE_BYTES:,} bytes", field="ontology_file")
