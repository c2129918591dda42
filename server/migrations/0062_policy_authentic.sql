-- Found to be written by somebody else than this server: shown as such. It is not what keeps the rule from counting, the seal is.
ALTER TABLE policy_rules ADD COLUMN is_forged boolean NOT NULL DEFAULT false;
