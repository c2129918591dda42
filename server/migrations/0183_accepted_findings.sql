-- Suspected findings that a person accepted, by the fingerprint for rules. `seal` covers everything else: the server ignores
-- a row that it did not write.
create table accepted_findings (
  acceptance_id uuid primary key,
  fingerprint text not null unique,
  finding text not null,
  vid text not null,
  pid text not null,
  reason text not null,
  accepted_at timestamptz not null,
  accepted_by text not null,
  seal bytea not null
);

-- The verdict leaves out an accepted finding, so that lists, counters and decisions need no join.
alter table designs add column accepted boolean not null default false;
create index designs_policy_fingerprint on designs (policy_fingerprint);
