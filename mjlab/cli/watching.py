"""What is watched in a browser, until the user ends it."""

import sys
import webbrowser

from mjlab.viewer import Player


def watch_in_browser(
    player: Player,
    title: str,
    *,
    port: int = 8080,
    opens: bool = False,
    steps: int | None = None,
) -> None:
    """Show a page, and say where.

    Args:
        player: The worlds and what acts in them.
        title: What stands above the controls.
        port: Where the page is, or the next port that is free.
        opens: Whether to show it in the browser of this machine.
        steps: Steps after which to stop. None goes on.
    """
    from mjlab.viewer import WebViewer

    viewer = WebViewer(player, port=port, title=title)
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
