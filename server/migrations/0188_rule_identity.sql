-- What a rule binds beside the columns of earlier releases: the fingerprint that holds at every port and speed, and whether
-- `serial` is escaped (true) or was cleaned. An earlier release ignores these columns and still reads its own, so it can be
-- started again. A second seal covers them. Without it, the rule matches as before.
ALTER TABLE policy_rules
  ADD COLUMN rule_fingerprint text,
  ADD COLUMN exact_serial boolean NOT NULL DEFAULT false,
  ADD COLUMN identity_seal bytea;
-- Null: no server of this release or later has stored it.
ALTER TABLE designs ADD COLUMN policy_rule_fingerprint text;
CREATE INDEX designs_policy_without_revision ON designs (policy_without_revision);
-- Location of the USB controller of a device. Null: last reported to an earlier release. Empty: its host reports none.
ALTER TABLE peripherals ADD COLUMN controller text;
