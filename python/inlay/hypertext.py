"""Any text as text of HTML."""

import html
import re

# What no text of HTML may hold, and none that is printed should: control characters but those of white space, and halves
# of pairs. And what turns the direction of writing, so that a name would change the order of the words beside it.
_NO_TEXT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def plain(text):
    """The text with what no page may hold, and no screen should be sent, replaced."""
    return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)


def escape(text):
    """The same as text of HTML, and as an attribute."""
    return html.escape(plain(text))
