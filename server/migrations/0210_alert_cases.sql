-- An alert is a case: somebody owns it, it can be snoozed, and it is closed with a verdict. `dismissed_at` and `dismissed_by`
-- are when it was closed, and by whom.
alter table notices
  add column owner_id uuid references accounts on delete set null,
  -- Null: not snoozed. The server clears it when the time is over.
  add column snoozed_until timestamptz,
  add column verdict text not null default '',
  add column comment text not null default '',
  -- Start of the current case. Null: it started with the first event.
  add column opened_at timestamptz,
  -- First action of a person on the current case.
  add column acknowledged_at timestamptz;
create index notices_owner on notices (owner_id) where owner_id is not null;
create index notices_snoozed on notices (snoozed_until) where snoozed_until is not null;

-- What happened to each alert, and who did it.
create table alert_history (
  history_id bigint generated always as identity primary key,
  notice_id int not null references notices on delete cascade,
  at timestamptz not null,
  -- Name of the account, or `system`.
  by text not null,
  action text not null,
  detail text not null default '',
  comment text not null default '',
  -- Seconds since the case was opened: of the first action of a person, and of the closing by a person.
  acknowledged_s int,
  closed_s int
);
create index alert_history_alert on alert_history (notice_id, history_id desc);
create index alert_history_times on alert_history (at) where acknowledged_s is not null or closed_s is not null;
