import re
import tomllib

from tests.unit.project.tree import ROOT
from tools import configuration_page, openapi_page


def test_the_page_of_settings_is_fresh() -> None:
    assert configuration_page.PAGE.read_text(encoding="utf-8") == configuration_page.page(), "run `make docs`"


def test_the_description_of_the_routes_is_fresh() -> None:
    assert openapi_page.PAGE.read_text(encoding="utf-8") == openapi_page.page(), "run `make docs`"


def test_the_changelog_speaks_of_the_version_that_is_built() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    newest = re.search(
        r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert newest is not None
    assert newest[1] == project["version"]


def test_every_relative_link_of_the_documentation_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]

    assert broken == []
