"""/api/v1/ontologies: a user's own, by key. Source: recorded cases onto_*; graph contract, "REST"."""

from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response
from typing_extensions import TypedDict

from dormouse.errors import InvalidInputError, NotFoundError
from dormouse.ingest.ontologies import Upload
from dormouse.model.ontology import MAX_SIZE_BYTES, OntologyRow
from dormouse_gateway.contracts.graph.rest.bodies import OntologyBody, parsed
from dormouse_gateway.contracts.graph.rest.call import Call, Served, answer
from dormouse_gateway.web.instants import iso
from dormouse_gateway.web.limits import form
from dormouse_gateway.web.operation import FILE, Answer, Form, Operation, path_parameter
from dormouse_gateway.web.problems import Problem, ProblemError

_FILE_FIELD = "ontology_file"


class OntologyView(TypedDict):
    filename: str
    size_bytes: int
    uploaded_at: str
    description: str | None


class KeyedOntologyView(OntologyView):
    ontology_key: str


class UploadedView(TypedDict):
    uploaded_ontologies: list[KeyedOntologyView]


class RemovedView(TypedDict):
    status: str
    ontology_key: str


_KEY = path_parameter("key", "The key that it was uploaded under.")
UPLOAD_ONTOLOGY = Operation(
    "Upload an ontology under a key of one's own",
    "ontologies",
    {200: Answer("It was read and is kept.", UploadedView)},
    "RDF/XML, Turtle or N-Triples of up to 5 MiB. Nothing that it imports is fetched. A key is replaced by "
    "deleting it first.",
    body=Form(
        OntologyBody,
        {_FILE_FIELD: {**FILE, "description": "Named .owl, .rdf, .xml, .ttl or .nt."}},
        required=(_FILE_FIELD,),
    ),
    refusals=(422,),
)
LIST_ONTOLOGIES = Operation(
    "One's ontologies by key",
    "ontologies",
    {200: Answer("Key to what lies under it.", dict[str, OntologyView])},
)
READ_ONTOLOGY = Operation(
    "An ontology as it was uploaded",
    "ontologies",
    {200: Answer("The file.", media="application/octet-stream")},
    parameters=(_KEY,),
)
DELETE_ONTOLOGY = Operation(
    "Delete an ontology",
    "ontologies",
    {200: Answer("It is gone; what was grounded in it stays.", RemovedView)},
    parameters=(_KEY,),
)


async def upload_ontology(call: Call) -> Response:
    fields = await form(call.request)
    try:
        upload = await _read(fields)
    finally:
        await fields.close()
    row = await call.engine.ontologies.add(call.scope, upload)
    view: UploadedView = {"uploaded_ontologies": [{"ontology_key": row.key, **_view(row)}]}
    return answer(view)


async def list_ontologies(call: Call) -> Response:
    return answer({row.key: _view(row) for row in await call.engine.ontologies.of(call.scope)})


async def read_ontology(call: Call) -> Response:
    original = await call.engine.ontologies.original(call.scope, call.request.path_params["key"])
    return Response(original.body, media_type="application/octet-stream")


async def delete_ontology(call: Call) -> Response:
    """Recorded with status 400 for an unknown key."""
    key = call.request.path_params["key"]
    try:
        await call.engine.ontologies.remove(call.scope, key)
    except NotFoundError as exc:
        raise ProblemError(Problem("not_found", str(exc), status=400)) from exc
    view: RemovedView = {"status": "success", "ontology_key": key}
    return answer(view)


async def _read(fields: FormData) -> Upload:
    files = fields.getlist(_FILE_FIELD)
    plain = {name: value for name, value in fields.multi_items() if name != _FILE_FIELD}
    body = parsed(OntologyBody, plain)
    if len(files) != 1:
        raise InvalidInputError("Only one ontology_file is allowed", field=_FILE_FIELD)
    file = files[0]
    if not isinstance(file, UploadFile):
        raise InvalidInputError("ontology_file: a file is expected", field=_FILE_FIELD)
    content = await file.read(MAX_SIZE_BYTES + 1)
    return Upload(body.ontology_key, file.filename or "", content, body.description or "")


def _view(row: OntologyRow) -> OntologyView:
    return {
        "filename": row.filename,
        "size_bytes": row.size_bytes,
        "uploaded_at": iso(row.created_ms),
        "description": row.description or None,
    }


ROUTES = (
    Served("POST", "/ontologies", upload_ontology, UPLOAD_ONTOLOGY),
    Served("GET", "/ontologies", list_ontologies, LIST_ONTOLOGIES),
    Served("GET", "/ontologies/{key}", read_ontology, READ_ONTOLOGY),
    Served("DELETE", "/ontologies/{key}", delete_ontology, DELETE_ONTOLOGY),
)
