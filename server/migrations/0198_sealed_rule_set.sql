-- The set of rules as a whole: a masked sum over the rules and their seals, at a version, with a MAC by a key outside the
-- database. A rule that is deleted, restored or inserted here no longer matches it. Null: no server has sealed the set yet,
-- so that servers of the previous release can change rules during an upgrade.
ALTER TABLE policy_head
  ADD COLUMN set_version int,
  ADD COLUMN set_sum bytea,
  ADD COLUMN set_seal bytea;
