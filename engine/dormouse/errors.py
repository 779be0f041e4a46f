"""Everything a caller of the engine may have to give up on.

DormouseError
├── InvalidInputError            the request breaks a rule; nothing was stored
│   ├── UnreadableDocumentError  the bytes are not what their name or type says, or are refused
│   ├── TooLargeError            over a documented limit
│   └── UnknownOntologyError     the caller has none under this key
├── NotFoundError                no such thing, or not the caller's (deliberately the same answer)
├── ForbiddenError               the caller may read it but not do this
├── ConflictError                the state of the thing forbids it
│   ├── DocumentExistsError      an item of this name has other content
│   ├── IdempotencyConflictError same Idempotency-Key, another body
│   └── SupersededError          a newer revision or a forget came first
├── UnavailableError             try again later
│   ├── CatalogUnavailableError
│   ├── StoreUnavailableError    the graph, vector or blob store
│   ├── EmbedderUnavailableError
│   ├── ModelUnavailableError    the language model's endpoint
│   ├── OverloadedError          a bound was reached
│   └── DataFolderBusyError      another process owns the data folder
├── ModelRefusedError            the language model's endpoint refuses what is asked, and will again
├── ModelReplyMalformedError     what it answered is not what the interface says; asking again costs the same
├── LeaseLostError               a successor holds the lease; what was being done is not ours any more
└── MisconfiguredError           the process cannot run like this; says which setting and what to do

Every class has a stable `code` and says whether trying again can help.
"""

from typing import ClassVar, Literal

Port = Literal["graph", "vector", "blob", "catalog", "embedder"]


class DormouseError(Exception):
    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False


class InvalidInputError(DormouseError):
    """`field` is the name the caller used; the message says the rule, never the value."""

    code = "invalid_input"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class UnreadableDocumentError(InvalidInputError):
    code = "unreadable_document"


class TooLargeError(InvalidInputError):
    code = "too_large"


class UnknownOntologyError(InvalidInputError):
    code = "unknown_ontology"

    def __init__(self, key: str) -> None:
        super().__init__(f"Ontology key '{key[:128]}' not found", field="ontology_key")


class NotFoundError(DormouseError):
    code = "not_found"


class ForbiddenError(DormouseError):
    code = "forbidden"


class ConflictError(DormouseError):
    code = "conflict"


class DocumentExistsError(ConflictError):
    """`document` is the caller's own item that is there already."""

    code = "document_exists"

    def __init__(self, document: str, name: str) -> None:
        super().__init__("an item of this name is there with other content: replace it as an update")
        self.document = document
        self.name = name


class IdempotencyConflictError(ConflictError):
    code = "idempotency_conflict"


class SupersededError(ConflictError):
    code = "superseded"


class UnavailableError(DormouseError):
    code, retryable = "unavailable", True

    def __init__(self, message: str, *, retry_after_s: int = 1) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class CatalogUnavailableError(UnavailableError):
    code = "catalog_unavailable"


class StoreUnavailableError(UnavailableError):
    code = "store_unavailable"

    def __init__(
        self,
        *,
        port: Port,
        retry_after_s: int = 1,
        is_full: bool = False,
        is_rebuilt: bool = False,
        setting: str = "",
    ) -> None:
        """`setting` says where the store is, for whoever starts a process; callers are not told."""
        trouble = "has a full disk; free some space" if is_full else "does not answer"
        trouble = "is being rebuilt" if is_rebuilt else trouble
        trouble += f" at DORMOUSE_{setting}" if setting else ""
        super().__init__(f"the {port} store {trouble}", retry_after_s=retry_after_s)
        self.port = port


class EmbedderUnavailableError(UnavailableError):
    code = "embedder_unavailable"


class ModelUnavailableError(UnavailableError):
    code = "model_unavailable"


class OverloadedError(UnavailableError):
    code = "overloaded"


class DataFolderBusyError(UnavailableError):
    code = "data_folder_busy"


class ModelRefusedError(DormouseError):
    code = "model_refused"


class ModelReplyMalformedError(DormouseError):
    code = "model_reply_malformed"


class LeaseLostError(DormouseError):
    code, retryable = "lease_lost", True


class MisconfiguredError(DormouseError):
    code = "misconfigured"

    def __init__(self, message: str, *, setting: str | None = None) -> None:
        super().__init__(message)
        self.setting = setting
