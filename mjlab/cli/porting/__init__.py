"""The codemod `port`: tasks for mjlab 1.6 or Isaac Lab, rewritten for this package.

Nothing here imports the named projects, and a user's file is parsed, never run.

`folder` ports a folder, and `codemod` a file. `names` resolves names to dotted names,
`changes` notes changes and writes `# TODO(port):`. `imports`, `fields`, `members`,
`calls` and `classes` rewrite the parts of a file that these modules are named after.
The tables of counterparts are in `mjlab.settings.mjlab_1_6` and `isaaclab_2_3`.
"""
