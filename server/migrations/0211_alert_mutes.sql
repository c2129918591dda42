-- Models whose alerts of one kind are muted until a time. The events are stored as usual.
create table alert_mutes (
  mute_id int generated always as identity primary key,
  kind text not null,
  -- VID:PID
  model text not null,
  until timestamptz not null,
  reason text not null,
  created_at timestamptz not null,
  created_by text not null,
  -- Events that raised no alert.
  suppressed int not null default 0,
  unique (kind, model)
);
create index alert_mutes_until on alert_mutes (until);
