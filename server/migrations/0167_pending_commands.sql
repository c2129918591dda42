-- agent_heartbeats.has_commands states whether a command is pending. The copy in agent_rows had an index, so each change
-- wrote all 29 index entries of the row. Releases before this one still write the column; it no longer has a meaning.
UPDATE agent_rows SET in_action = false WHERE in_action;
DROP INDEX agent_rows_in_action;
