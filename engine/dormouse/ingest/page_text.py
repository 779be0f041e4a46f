"""What a page of HTML says, without its markup: enough for the body of a mail. Pure."""

from html.parser import HTMLParser

_UNSEEN = frozenset({"script", "style", "head", "title", "template", "noscript"})
_LINES = frozenset("p div br li tr table ul ol h1 h2 h3 h4 h5 h6 blockquote pre section article hr".split())


def page_text(html: str) -> str:
    """Its words in order, a line for each block; broken markup costs at most itself."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.words).split("\n"))
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  its name
        if tag in _UNSEEN:
            self._unseen += 1
        if tag in _LINES:
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        if tag in _LINES:
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.words.append(data.replace("\n", " "))
