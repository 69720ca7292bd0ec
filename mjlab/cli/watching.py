"""Show the web viewer until the user stops it."""

import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from mjlab.cli.answers import postponing_signals
from mjlab.viewer import Player, PolicyMenu

if TYPE_CHECKING:
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.rl import AgentCfg


def watch_in_browser(
    player: Player,
    title: str,
    *,
    port: int = 8080,
    opens: bool = False,
    steps: int | None = None,
    policies: PolicyMenu | None = None,
) -> None:
    """Serve a page in the browser, and print its address.

    Args:
        player: The worlds and their policy.
        title: Title above the controls.
        port: Port of the page, or the next free one.
        opens: Open the page in the default browser.
        steps: Steps after which to stop. None runs until Ctrl-C.
        policies: Policies to choose from on the page.
    """
    with postponing_signals():
        from mjlab.viewer import WebViewer

    viewer = WebViewer(player, port=port, title=title, policies=policies)
    sys.stdout.write(
        f"Open {viewer.url} in a browser on this machine. Press Ctrl-C to stop.\n"
    )
    sys.stdout.flush()
    if opens:
        webbrowser.open(viewer.url)
    try:
        viewer.run(steps)
    except KeyboardInterrupt:
        sys.stdout.write("\n")
    finally:
        viewer.close()


def list_checkpoints(
    played: Path, env: "ManagerBasedRlEnv", cfg: "AgentCfg"
) -> PolicyMenu:
    """Return a menu of the played checkpoint and the other checkpoints of its run.

    Args:
        played: The played checkpoint.
        env: The worlds in which the checkpoints are played.
        cfg: The learner of the run.
    """
    from mjlab.rl import load_policy
    from mjlab.runs import Checkpoints

    return PolicyMenu(
        played.stem,
        Checkpoints(played.parent).names,
        lambda name: load_policy(played.with_name(f"{name}.pt"), env, cfg),
    )
