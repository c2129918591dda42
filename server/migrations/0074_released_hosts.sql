-- Hosts that a person freed or deleted alone, noted before it is done: what needs a second person is counted over a time,
-- so that many small steps are as much as a large one. Rows of the last quarter of an hour are looked at.
CREATE TABLE released_hosts (
  released_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_name text NOT NULL,
  hosts int NOT NULL,
  released_at timestamptz NOT NULL
);
CREATE INDEX released_hosts_of ON released_hosts (user_name, released_at);

-- Asking a second person less often needs one, too.
ALTER TABLE change_requests DROP CONSTRAINT change_requests_action_check;
ALTER TABLE change_requests ADD CONSTRAINT change_requests_action_check CHECK (action IN ('free', 'delete', 'settings'));

-- Seal over the rule as it was, by the same key as that of rules: going back brings nothing into force that was put into
-- the history by hand. Null: written before seals were kept, or there was no rule.
ALTER TABLE policy_changes ADD COLUMN seal bytea;
