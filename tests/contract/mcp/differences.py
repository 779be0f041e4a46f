"""Every deliberate difference from the recorded graph contract on the MCP side, once, with its reason.

`docs/compatibility.md` shows the same table; `python -m tests.contract.mcp.differences` writes it there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "compatibility.md"
BEGIN, END = "<!-- mcp: generated -->", "<!-- mcp: end -->"


@dataclass(frozen=True, slots=True)
class Difference:
    """`answers`: our whole text (a pattern) for each recorded call that differs for this reason."""

    reference: str
    ours: str
    reason: str
    answers: Mapping[str, str] = field(default_factory=dict)
    probes: tuple[str, ...] = ()


_UUID = r"[0-9a-f-]{36}"
_FOUND = r"\d+ memor(y|ies) found \(.*\)\n\[graph\] [\s\S]*"
_NOTHING = r"no matching memories"

DIFFERENCES = (
    Difference(
        reference="`cognify_status` without a dataset tells of the client's own, whatever the others do.",
        ours="Also of every other one in which work is in flight or failed last; their errors begin with the "
        "dataset's name.",
        reason="A recall looks everywhere, and its “check cognify_status” may mean any of them.",
    ),
    Difference(
        reference="An error that the server handled has `isError: false`.",
        ours="`isError: true`, with the same text.",
        reason="The protocol asks for it, and clients otherwise take the error for an answer.",
    ),
    Difference(
        reference="Arguments that do not fit are answered with the validator's own report, values included.",
        ours="One line `Error: …` that names the parameter and its rule.",
        reason="A model can act on it, and no value is repeated.",
        answers={
            "recall_topk_str": r"Error: Recall failed: top_k must be an integer\.",
            "recall_missing_query": r"Error: Recall failed: query is required\.",
            "recall_extra_arg": r"Error: Recall failed: unknown argument 'foo'\.",
        },
    ),
    Difference(
        reference="An unknown `search_type` is answered with its name alone.",
        ours="The answer lists the valid ones.",
        reason="The name alone does not say what is wrong with it.",
        answers={
            "recall_bad_type": r"Error: Recall failed: 'NOPE' is not a search type\. Valid values: AGENTIC_.*",
        },
    ),
    Difference(
        reference="An uploaded file is named in the answer as the caller wrote it, `None` without a name.",
        ours="By the name it is stored under: the last part, with `.txt` when there is no suffix.",
        reason="That is the name by which it is found again.",
        answers={
            "remember_file": r"Ingested 'notes\.txt' \(18 bytes\) into dataset 'docs' \(status=completed\)\.",
            "remember_file_noname": r"Ingested 'upload\.txt' \(18 bytes\) into dataset 'docs' "
            r"\(status=completed\)\.",
        },
    ),
    Difference(
        reference="A recall without `search_type`, or with a completing one, needs a language model and "
        "returns one sentence of it per dataset.",
        ours="One ranking over all datasets returns the memories themselves. With a language model one answer "
        "precedes them, as `[answer] …`, which does not count as a memory.",
        reason="The main job works offline, and an agent can check what an answer rests on.",
        answers={
            "recall_auto": _FOUND,
            "recall_graph": _FOUND,
            "recall_session_miss": f"{_FOUND}|{_NOTHING}",
            "recall_during_bg": _FOUND,
        },
    ),
    Difference(
        reference="Session entries are copied into the graph, and found by everybody who may read it.",
        ours="They stay in their session.",
        reason="What is said in a session is short-lived and its owner's.",
        answers={
            "recall_chunks_all": r"3 memories found \((1 from cursor_vscode_memory, 2 from docs|"
            r"2 from docs, 1 from cursor_vscode_memory)\)\n(\[graph\] (Alice works at Acme in Berlin\.|"
            r"Bob lives in Rome\.|Zed lives in Oslo\.)(\n\n)?){3}",
        },
    ),
    Difference(
        reference="A text just queued is not found until it is indexed.",
        ours="It is found at once, read from the receipt's side until the index has it.",
        reason="An agent expects to find what it was told is stored.",
        answers={
            "recall_during_bg_ds": r"1 memory found \(1 from bg1\)\n"
            r"\[graph\] Carol founded Initech in Vienna\.",
        },
    ),
    Difference(
        reference="The answer to a background call names a log file on the server.",
        ours="It names `cognify_status` only.",
        reason="A caller elsewhere has no use for a path, and a stranger should not have it.",
        answers={
            "remember_bg": r"Background process launched due to MCP timeout limitations\.\n"
            r"Queued text for dataset 'bg1'\.\nCheck progress with cognify_status\.",
        },
    ),
    Difference(
        reference="An unknown ontology key of a background call fails later, in the background.",
        ours="The call is refused and nothing is stored.",
        reason="A mistake in the call is best told to whoever made it.",
        answers={
            "remember_bg_fail": r"Error: Remember failed: Ontology key 'nokey' not found",
            "status_bg_fail": rf"\{{'{_UUID}': 'DATASET_PROCESSING_COMPLETED'\}}",
            "call_tool": rf"\{{'{_UUID}': 'DATASET_PROCESSING_COMPLETED'\}}",
        },
    ),
    Difference(
        reference="`code_search` and the `code_query` argument answer from code graphs.",
        ours="Not served.",
        reason="Code is remembered as text; a graph of it is another product.",
        answers={
            "code_search_nocode": r"Unknown tool: 'code_search'",
            "code_search_badop": r"Unknown tool: 'code_search'",
            "code_search_op_in_args": r"Unknown tool: 'code_search'",
        },
    ),
    Difference(
        reference="Schemas have unions with null, defaults of null, and an output schema around everything.",
        ours="Flat schemas; what is not required may be left out, null or, for ids, empty.",
        reason="Several clients drop the whole list for a union or a reference.",
    ),
    Difference(
        reference="Tools have no annotations, and structured content repeats the text.",
        ours="Annotations tell reading from erasing; structured content carries hits, jobs and ids.",
        reason="Clients ask before a destructive call, and programs need the ids.",
    ),
    Difference(
        reference="The server keeps a session per client: without one it refuses, an ended one is 404.",
        ours="No request needs one; DELETE and GET are 405. Its id only carries the client's name.",
        reason="Any process serves any request, and a restart is not noticed.",
        probes=("list_nosession", "list_badsession", "delete_session", "after_delete"),
    ),
    Difference(
        reference="Every answer is a stream of one event, and `/mcp/` is a redirect.",
        ours="JSON unless there is progress to tell or the call takes long; `/mcp/` is the same address.",
        reason="Clients lose their credentials on a redirect. Both kinds of answer are in the protocol.",
        probes=("init", "init_origin_local3000", "init_origin_allowedhostport", "ping", "mcp_slash"),
    ),
    Difference(
        reference="An unknown method is `-32602`.",
        ours="`-32601`.",
        reason="That is JSON-RPC's code for it.",
        probes=("unknown_method",),
    ),
    Difference(
        reference="An unknown address is answered in plain text.",
        ours="In the error envelope that every other answer uses.",
        reason="One envelope for all.",
        probes=("root", "mcp404"),
    ),
    Difference(
        reference="Browsers may send cookies from `http://localhost:3000`, and cannot read the session id.",
        ours="Pages of the server's own names may call it, without cookies; the session id can be read.",
        reason="Keys travel in headers; a cookie would let any page act for its visitor.",
        probes=("preflight_ok", "preflight_bad"),
    ),
    Difference(
        reference="The older transport of two addresses (`/sse`, `/messages/`) can be chosen.",
        ours="Not served.",
        reason="The protocol has deprecated it, and it needs state in one process.",
        probes=("sse_badhost", "sse_badorigin", "sse_open", "messages_nosession", "mcp"),
    ),
)


def answer_of(case: str) -> re.Pattern[str] | None:
    """What we answer instead of the recorded text; None when nothing differs."""
    found = [difference.answers[case] for difference in DIFFERENCES if case in difference.answers]
    return re.compile(found[0]) if found else None


def may_differ(probe: str) -> bool:
    return any(probe in difference.probes for difference in DIFFERENCES)


def rendered() -> str:
    rows = [f"| {each.reference} | {each.ours} | {each.reason} |" for each in DIFFERENCES]
    return "\n".join([BEGIN, "", "| recorded | here | why |", "|---|---|---|", *rows, "", END])


def in_page(page: str) -> str:
    """The page with the table as it should be."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + rendered() + tail


if __name__ == "__main__":
    PAGE.write_text(in_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
