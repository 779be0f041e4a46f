"""Rules of the house that no linter knows."""

import ast
import re
from pathlib import Path

from tests.unit.project.tree import PACKAGES, ROOT, modules, named, texts

LONGEST_MODULE = 400
MOST_METHODS = 10  # of a port
FORBIDDEN_NAMES = {"utils", "util", "helpers", "common", "base", "manager", "service", "types", "misc"}
# One letter of each stands in brackets, so that this file does not find itself.
REGISTRY_HOSTS = re.compile(
    r"py[p]i\.org|python[h]osted\.org|npm[j]s\.(?:org|com)|proxy\.go[l]ang|repo1?\.ma[v]en"
    r"|static\.cr[a]tes\.io|deb\.deb[i]an\.org"
)
MACHINE_PATHS = re.compile(rf"{re.escape(str(ROOT))}\b|/tm[p]/[a-z]|/ro[o]t/\w|\.\./sh[a]red\b")

# Packages that export names; all others hold a docstring and nothing else.
EXPORTS = {
    "engine/dormouse/compose/__init__.py": [
        "LOCAL_PRINCIPAL",
        "PATIENCE",
        "ROLES",
        "Role",
        "assemble",
        "drop_migration",
        "open_engine",
        "open_ports",
        "open_shared_engine",
        "open_shared_ports",
        "request_migration",
        "request_rebuild",
    ],
    "gateway/dormouse_gateway/contracts/graph/rest/__init__.py": ["rest_routes"],
}


def test_no_module_is_longer_than_400_lines() -> None:
    long = [
        named(path) for path in modules(*PACKAGES, "tests", "tools", "load") if _lines(path) > LONGEST_MODULE
    ]

    assert long == []


def test_a_port_has_at_most_ten_methods() -> None:
    found = {
        f"{named(path)} {each.name}": sum(
            isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) for part in each.body
        )
        for path in modules("engine/dormouse/ports")
        for each in ast.parse(_read(path)).body
        if isinstance(each, ast.ClassDef) and any(ast.unparse(base) == "Protocol" for base in each.bases)
    }

    assert len(found) > 20
    assert {port: count for port, count in found.items() if count > MOST_METHODS} == {}


def test_a_module_is_named_after_its_idea() -> None:
    vague = [
        named(path) for path in modules(*PACKAGES, "tests", "tools", "load") if path.stem in FORBIDDEN_NAMES
    ]

    assert vague == []


def test_no_file_names_the_host_of_a_package_registry() -> None:
    assert [named(path) for path in texts() if REGISTRY_HOSTS.search(_read(path))] == []


def test_no_file_names_a_path_of_the_machine_it_was_written_on() -> None:
    assert [named(path) for path in texts() if MACHINE_PATHS.search(_read(path))] == []


def test_every_module_of_the_product_says_what_it_is() -> None:
    silent = [named(path) for path in modules(*PACKAGES) if not ast.get_docstring(ast.parse(_read(path)))]

    assert silent == []


def test_packages_export_what_is_listed_here() -> None:
    found = {named(path): _exported(path) for path in modules(*PACKAGES) if path.name == "__init__.py"}

    assert {name: exports for name, exports in found.items() if exports} == EXPORTS


def _exported(path: Path) -> list[str]:
    """The names in `__all__`; anything but a docstring without it counts as exporting everything."""
    body = ast.parse(_read(path)).body
    for node in body:
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
        ):
            listed: list[str] = ast.literal_eval(node.value)
            return listed
    return ["*"] if len(body) > 1 else []


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _lines(path: Path) -> int:
    return len(_read(path).splitlines())
