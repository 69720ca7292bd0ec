"""Page that runs policies in a browser: one HTML file, or a folder.

The page contains MuJoCo and onnxruntime as WebAssembly, three.js and the policy files.
It opens from a disk or a static host, and loads nothing from other servers.
"""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path

from mjlab.export.reader import ExportError
from mjlab.export.runner.policy import ContractError, ContractPolicy
from mjlab.export.web.scene import refuse_scene
from mjlab.files import write_text

INDEX = "index.html"
"""Name of the page in a folder."""

_RUNTIME = {"mujoco": "mujoco.wasm.gz", "onnxruntime": "onnxruntime.wasm.gz"}
"""Packaged WebAssembly files, by their key in the page's `mjlabParts`."""


@dataclass(frozen=True)
class WrittenPage:
    """Path, policies and size of a written page."""

    path: Path
    """The HTML file."""

    policies: tuple[str, ...]
    """Names of the policies in the page's menu."""

    size: int
    """Size of all files in bytes."""

    constant: Mapping[str, list[str]]
    """Inputs that the page does not compute, such as images, by policy."""

    @property
    def summary(self) -> str:
        """Lines for the console."""
        size = f"{self.size / 1e6:.1f} MB"
        lines = [f"Wrote {self.path}, {size}: {', '.join(self.policies)}."]
        lines += [
            f"{name}: the page cannot compute {', '.join(inputs)}, and repeats the "
            "first recorded value."
            for name, inputs in self.constant.items()
        ]
        return "\n".join(lines)


def write_page(policies: Sequence[Path], to: Path) -> WrittenPage:
    """Write a page with a menu of policies, which it simulates in the browser.

    Args:
        policies: ONNX files of `mjlab export`.
        to: HTML file that contains everything, or a folder for the page and its parts.

    Raises:
        ExportError: If two policies have the same file name, or a page cannot run a
            policy.
    """
    named = {path.stem: path for path in policies}
    if len(named) < len(policies):
        raise ExportError(
            "Two policies have the same file name. The menu of the page shows file "
            "names: rename one."
        )
    opened = {name: _checked(path) for name, path in named.items()}
    contents = {name: path.read_bytes() for name, path in named.items()}
    if to.suffix == ".html":
        files = {to: _page(named, _inline(contents))}
    else:
        scripts = _scripts(contents)
        tags = "".join(f'<script src="{name}"></script>\n' for name in scripts)
        files = {to / name: text for name, text in scripts.items()}
        files[to / INDEX] = _page(named, tags, sources=" 'self' file:")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    page = to if to.suffix == ".html" else to / INDEX
    size = sum(len(text.encode()) for text in files.values())
    found = {name: policy.constant_inputs() for name, policy in opened.items()}
    constant = {name: inputs for name, inputs in found.items() if inputs}
    return WrittenPage(page, tuple(named), size, constant)


def _checked(path: Path) -> ContractPolicy:
    """Open a policy file; raise if a page cannot run it."""
    try:
        policy = ContractPolicy(path)
        refuse_scene(policy)
    except ContractError as error:
        raise ExportError(f"A page cannot run {path}: {error}") from error
    return policy


def _inline(contents: Mapping[str, bytes]) -> str:
    """Return a script element with all scripts of the page."""
    return f"<script>\n{''.join(_scripts(contents).values())}</script>\n"


def _scripts(contents: Mapping[str, bytes]) -> dict[str, str]:
    """Return the scripts of the page by file name, in order of execution."""
    runtime = {key: _encoded(_packaged(name)) for key, name in _RUNTIME.items()}
    scripts = {
        "runtime.js": f"mjlabParts = {json.dumps({**runtime, 'policies': []})};\n"
    }
    for name, content in contents.items():
        packed = _encoded(gzip.compress(content, 9, mtime=0))
        policy = json.dumps({"name": name, "content": packed})
        scripts[f"policy-{len(scripts)}.js"] = f"mjlabParts.policies.push({policy});\n"
    scripts["page.js"] = _packaged("page.js").decode()
    return scripts


def _page(names: Mapping[str, Path], scripts: str, sources: str = "") -> str:
    parts = {
        "licences": _packaged("LICENSES.txt").decode().replace("--", "=="),
        "title": escape(", ".join(names)),
        "sources": sources,
        "style": _template("policies.css"),
        "scripts": scripts,
    }
    text = _template("policies.html")
    for key, value in parts.items():
        text = text.replace(f"{{{{ {key} }}}}", value)
    return text


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _packaged(name: str) -> bytes:
    path = resources.files("mjlab.export.web") / "runtime" / name
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ExportError(
            f"{path} is missing. Install mjlab-fused again; in a clone, `make web` "
            "builds the file with Node 20."
        ) from None


def _template(name: str) -> str:
    path = resources.files("mjlab.export.web") / "templates" / name
    return path.read_text("utf-8")
