"""Write what the rules for prompt injection need of a text, as it is read from their patterns.

``make reference`` runs this; a test holds the file to it.
"""

from __future__ import annotations

from memento_tui.policy.prompt_injection_needs import NEEDS_FILE, needs_as_json

if __name__ == "__main__":
    NEEDS_FILE.write_text(needs_as_json(), encoding="utf-8")
