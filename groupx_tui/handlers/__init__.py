"""What the actions do: one class for each noun of the action table, one method for each verb.

`registry.Handlers` finds them by id. A method takes what was written after the slash word ("" from
a key) and may be async; it raises `SkipAction` when the key means something else right now.
"""
