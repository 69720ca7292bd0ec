"""The codemod `port`: tasks for mjlab 1.6 or Isaac Lab, rewritten for this package.

Nothing here imports the named projects, and a user's file is parsed, never run.

`folder` ports a folder, and `codemod` a file. `names` resolves what a name stands for,
`changes` notes changes and writes `# TODO(port):`. `imports`, `fields`, `members`,
`calls` and `classes` rewrite these. The rows of other projects are in
`mjlab.settings.mjlab_1_6` and `isaaclab_2_3`.
"""
