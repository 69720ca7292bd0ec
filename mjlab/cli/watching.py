"""What is watched in a browser, until the user ends it."""

import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

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
    """Show a page, and say where.

    Args:
        player: The worlds and what acts in them.
        title: What stands above the controls.
        port: Where the page is, or the next port that is free.
        opens: Whether to show it in the browser of this machine.
        steps: Steps after which to stop. None goes on.
        policies: Policies to choose from on the page.
    """
    from mjlab.viewer import WebViewer

    viewer = WebViewer(player, port=port, title=title, policies=policies)
    sys.stdout.write(
        f"Open {viewer.url} in a browser of this machine. Ctrl-C ends it.\n"
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
    place: Path, env: "ManagerBasedRlEnv", cfg: "AgentCfg", *, best: bool
) -> PolicyMenu:
    """Return the checkpoint that is played, and those beside it.

    Args:
        place: A checkpoint, or a folder of a run.
        env: The worlds to play them in.
        cfg: The learner of the run.
        best: Whether the best is played, rather than the newest.
    """
    from mjlab.rl import load_policy
    from mjlab.runs import Checkpoints
    from mjlab.runs.checkpoints import find_checkpoint

    played = find_checkpoint(place, best=best)
    return PolicyMenu(
        played.stem,
        Checkpoints(played.parent).names,
        lambda name: load_policy(played.with_name(f"{name}.pt"), env, cfg),
    )
