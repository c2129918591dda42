-- Notices: what events said, folded by subject. One follower reads the events in order, so that each is folded once.
CREATE TABLE notices (
  notice_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Health notices have kind 'health' and the subsystem as subject.
  kind text NOT NULL,
  subject text NOT NULL,
  title text NOT NULL,
  description text NOT NULL,
  severity smallint NOT NULL,
  -- Of a subsystem: OK, Warning, Error; empty for risk.
  status text NOT NULL DEFAULT '',
  entity_type text NOT NULL DEFAULT '',
  entity_id text NOT NULL DEFAULT '',
  link text NOT NULL DEFAULT '',
  hashtags text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  -- When it last came up.
  turned_at timestamptz NOT NULL,
  count int NOT NULL,
  -- Grows with each notice that comes up, or comes up again: an account has read all up to a turn.
  turn bigint NOT NULL,
  -- Host that it came up by, so that one host can not flood for all; empty: none.
  opened_by text NOT NULL DEFAULT '',
  -- The newest events behind it, newest first, at most 20.
  events bigint[] NOT NULL DEFAULT '{}',
  dismissed_at timestamptz,
  dismissed_by text NOT NULL DEFAULT '',
  UNIQUE (kind, subject)
);
CREATE INDEX notices_last ON notices (last_at DESC, notice_id DESC);
CREATE INDEX notices_turned ON notices (turned_at);

-- Locked by the replica that folds.
CREATE TABLE notice_follower (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  event_id bigint NOT NULL,
  turn bigint NOT NULL DEFAULT 0
);
-- From now on: what happened before there were notices is no news.
INSERT INTO notice_follower (event_id) SELECT n FROM ordered_head WHERE stream = 'events';

-- Up to which turn an account has read a list.
CREATE TABLE notice_reads (
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  list text NOT NULL CHECK (list IN ('risk', 'health')),
  turn bigint NOT NULL,
  PRIMARY KEY (account_id, list)
);
CREATE TABLE notice_pins (
  account_id uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  notice_id int NOT NULL REFERENCES notices ON DELETE CASCADE,
  PRIMARY KEY (account_id, notice_id)
);
CREATE INDEX notice_pins_notice ON notice_pins (notice_id);

-- What watchers told already, so that they tell it once: silent agents, uncommon shapes, devices that no rule covers.
CREATE TABLE notice_sightings (
  kind text NOT NULL,
  subject text NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (kind, subject)
);

-- Groups are a fixed set; what an Administrator changed of one lies here.
CREATE TABLE notification_groups (
  group_id int PRIMARY KEY,
  config jsonb NOT NULL,
  webhook_secret bytea
);

-- Notices that a group will tell with its next mail or webhook message.
CREATE TABLE notice_pending (
  group_id int NOT NULL,
  channel text NOT NULL,
  notice_id int NOT NULL REFERENCES notices ON DELETE CASCADE,
  turn bigint NOT NULL,
  -- opened, reopened, resolved
  news text NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (group_id, channel, notice_id)
);
CREATE INDEX notice_pending_due ON notice_pending (group_id, channel, since);
-- When a group last mailed.
CREATE TABLE notice_told (
  group_id int NOT NULL,
  channel text NOT NULL,
  told_at timestamptz NOT NULL,
  -- How often in a row there was something to tell as soon as the wait was over: the waits grow with it.
  streak int NOT NULL DEFAULT 0,
  PRIMARY KEY (group_id, channel)
);

-- The outbox of mails and webhook messages: written with what they tell.
CREATE TABLE deliveries (
  delivery_id uuid PRIMARY KEY,
  group_id int NOT NULL,
  group_name text NOT NULL,
  channel text NOT NULL CHECK (channel IN ('email', 'webhook')),
  -- All that fail together: the mail server, or one webhook.
  target text NOT NULL,
  destination text NOT NULL,
  title text NOT NULL,
  -- Exactly what is sent, with every try.
  body text NOT NULL,
  notices int[] NOT NULL DEFAULT '{}',
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'failed', 'dropped')),
  attempts int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  next_at timestamptz NOT NULL,
  lease_until timestamptz,
  -- Grows with each lease: who lost it writes nothing any more.
  fence int NOT NULL DEFAULT 0,
  ended_at timestamptz,
  error text NOT NULL DEFAULT ''
);
CREATE INDEX deliveries_due ON deliveries (target, next_at) WHERE state = 'waiting';
CREATE INDEX deliveries_created ON deliveries (created_at, delivery_id);
CREATE INDEX deliveries_notices ON deliveries USING gin (notices);

-- Receivers that failed lately.
CREATE TABLE delivery_targets (
  target text PRIMARY KEY,
  failures int NOT NULL DEFAULT 0,
  probe_at timestamptz,
  succeeded_at timestamptz,
  failed_at timestamptz,
  error text NOT NULL DEFAULT ''
);

-- Streams of events: the events themselves are the outbox, a position says what the receiver has.
CREATE TABLE event_outputs (
  group_id int NOT NULL,
  channel text NOT NULL CHECK (channel IN ('webhook', 'syslog')),
  position bigint NOT NULL,
  -- End of the batch that is being sent to a webhook: its body and id stay the same with every try.
  batch_to bigint,
  sent bigint NOT NULL DEFAULT 0,
  failures int NOT NULL DEFAULT 0,
  next_at timestamptz,
  lease_until timestamptz,
  fence int NOT NULL DEFAULT 0,
  succeeded_at timestamptz,
  failed_at timestamptz,
  error text NOT NULL DEFAULT '',
  PRIMARY KEY (group_id, channel)
);
