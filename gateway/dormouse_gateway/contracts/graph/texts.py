"""The words of the graph contract, letter by letter: clients and agents read them.

Source: graph contract, recorded calls.
"""

from collections import Counter
from collections.abc import Sequence

from dormouse.model.document import CONTENT_LIMIT_BYTES

# --- remember ---
BOTH_INPUTS = "Error: pass either `data` or `filename` + `content_base64`, not both."
NO_INPUT = "Error: provide `data` or `filename` + `content_base64`."
UPLOAD_IN_SESSION = "Error: file uploads (content_base64) don't support session_id."
NOT_BASE64 = "Error: invalid base64 content (Only base64 data is allowed)."
ONTOLOGY_IN_SESSION = (
    "Error: Remember failed: ontology_key is only supported for permanent memory; omit session_id."
)

# --- recall ---
TOP_K_TOO_LOW = "Error: Recall failed: top_k must be at least 1."
TOP_K_TOO_HIGH = "Error: Recall failed: top_k must be less than or equal to 100."
NOTHING_BUILT = "Memory is still warming up: no knowledge graph data exists yet for the requested datasets."
NOTHING_FOUND = "no matching memories"
BUILD_FAILED = "memory indexing failed — check cognify_status"

# --- forget ---
NO_TARGET = (
    "Error: Specify 'dataset' name or set 'everything' to true. "
    "To remove a single item, pass 'data_id' with 'dataset' or 'dataset_id'."
)
ITEM_WITHOUT_DATASET = "Error: 'data_id' requires 'dataset' or 'dataset_id'."
NOT_A_UUID = "Error: invalid UUID (badly formed hexadecimal UUID string)."
EVERYTHING_AND_MORE = (
    "Error: Forget failed: 'everything' erases all that you own: pass it alone, or leave it out and say what "
    "to forget with 'dataset' or 'dataset_id', and 'data_id'."
)
TWO_DATASETS = "Error: Forget failed: pass either 'dataset' or 'dataset_id', not both."
NO_DATASET_WITH_THAT_ID = (
    "Error: Forget failed: PermissionDeniedError: Request owner does not have necessary permission: "
    "[delete] for all datasets requested. (Status code: 403)"
)

MAX_HINTS = 3
MAX_HINT_CHARACTERS = 60


def too_large(size_bytes: int) -> str:
    return f"Error: file exceeds {CONTENT_LIMIT_BYTES // 1024**2} MB limit ({size_bytes:,} bytes)."


def stored(dataset: str, status: str) -> str:
    return f"Stored permanently in knowledge graph (dataset={dataset}, status={status})."


def ingested(filename: str, size_bytes: int, dataset: str, status: str) -> str:
    return f"Ingested '{filename}' ({size_bytes:,} bytes) into dataset '{dataset}' (status={status})."


def stored_in_session(session: str) -> str:
    return f"Stored in session cache (session_id={session}, status=session_stored)."


def queued(what: str, dataset: str) -> str:
    """`what` is "text" or a quoted file name."""
    return (
        "Background process launched due to MCP timeout limitations.\n"
        f"Queued {what} for dataset '{dataset}'.\n"
        "Check progress with cognify_status."
    )


def goes_on(job: str) -> str:
    """Follows a text whose status is `running`."""
    return f"Job {job} goes on by itself; check progress with cognify_status."


def unknown_datasets(names: Sequence[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in names)
    return (
        f"Error: Recall failed: DatasetNotFoundError: Dataset(s) not found: {listed}. Dataset names resolve "
        "only among the datasets you own in the current tenant; pass dataset_ids for datasets shared with "
        "you. (Status code: 404)"
    )


def only_staged(dataset: str, dataset_id: str, count: int) -> str:
    return (
        f"No searchable memory in dataset '{dataset}' (id: {dataset_id}): holds {count} data item(s) but its "
        "knowledge graph is empty; run cognify on this dataset before searching. [NoDataError]"
    )


def unknown_scopes(names: Sequence[str], valid: Sequence[str]) -> str:
    return f"Error: Recall failed: Unknown recall scope(s): {_quoted(names)}. Valid values: {_quoted(valid)}"


def unknown_search_type(name: str, valid: Sequence[str]) -> str:
    return f"Error: Recall failed: '{name}' is not a search type. Valid values: {', '.join(valid)}"


def summary(hints: Sequence[str]) -> str:
    """The first line when something was found: how many, and from where; one hint per memory, may be empty."""
    count = len(hints)
    head = f"{count} memory found" if count == 1 else f"{count} memories found"
    tally = Counter(hint for hint in map(_short, hints) if hint)  # keeps the order of first sight
    told = ", ".join(f"{number} from {hint}" for hint, number in list(tally.items())[:MAX_HINTS])
    return f"{head} ({told})" if told else head


def still_indexing(completed: int | None, total: int | None) -> str:
    if completed is None or not total:
        return "still indexing — retry shortly"
    return f"still indexing — {completed}/{total} items processed, retry shortly"


def body_item(source: str, text: str) -> str:
    return f"[{source}] {text}"


def nothing_to_forget(dataset: str) -> str:
    return (
        f"Error: Forget failed: DatasetNotFoundError: Dataset '{dataset}' not found or not accessible. "
        "(Status code: 404)"
    )


def forgotten_everything(status: str) -> str:
    return f"All data deleted (status={status})."


def forgotten_item(item: str, status: str) -> str:
    return f"Data item '{item}' deleted (status={status})."


def forgotten_dataset(dataset: str, status: str) -> str:
    return f"Dataset '{dataset}' deleted (status={status})."


def synthetic_tool(name: str) -> str:
    return (
        f"Error calling tool 'call_tool': '{name}' is a synthetic search tool "
        "and cannot be called via the call_tool proxy"
    )


def unknown_target(name: str) -> str:
    return f"Error calling tool 'call_tool': Unknown tool: '{name}'"


def _short(hint: str) -> str:
    return " ".join(hint.split())[:MAX_HINT_CHARACTERS]


def _quoted(names: Sequence[str]) -> str:
    return f"[{', '.join(repr(name) for name in names)}]"
