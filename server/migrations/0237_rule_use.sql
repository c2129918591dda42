-- Attachments by the rule that decides them, by day (UTC). Upkeep counts them from attachment_days, which has no rule.
CREATE TABLE rule_days (
  day date NOT NULL,
  rule_id uuid NOT NULL,
  hits int NOT NULL,
  PRIMARY KEY (day, rule_id)
);
-- What upkeep found about the use of a rule. No seal covers it, because it changes no decision.
ALTER TABLE policy_rules
  -- Attachments in 30 days.
  ADD COLUMN hits int NOT NULL DEFAULT 0,
  ADD COLUMN is_unused boolean NOT NULL DEFAULT false,
  -- Another rule that makes the same decision, or a stronger one, about all its devices.
  ADD COLUMN shadowed_by uuid;
