-- Findings about devices of hosts. A finding stays open after its device was removed, until a person closes it with a verdict.
create table host_findings (
  finding_id bigint generated always as identity primary key,
  agent_id uuid not null references agents on delete cascade,
  device_id text not null,
  -- The fingerprint that caused it.
  fingerprint_id int not null references designs,
  -- 30 vulnerable, 40 suspected, 50 confirmed attack tool.
  severity smallint not null,
  opened_at timestamptz not null,
  last_attached timestamptz not null,
  -- Null: the device is attached.
  detached_at timestamptz,
  attachments int not null default 1,
  -- When the points of a removed device halve next; null: it is attached, or one point is left.
  halves_at timestamptz,
  -- Null: open.
  verdict text,
  comment text not null default '',
  closed_at timestamptz,
  closed_by text not null default ''
);
create unique index host_findings_open on host_findings (agent_id, device_id) where verdict is null;
create index host_findings_device on host_findings (agent_id, device_id, finding_id desc);
create index host_findings_fingerprint on host_findings (fingerprint_id);
create index host_findings_order on host_findings ((verdict is null) desc, severity desc, last_attached desc, finding_id);
create index host_findings_halving on host_findings (halves_at) where halves_at is not null and verdict is null;

-- Devices that are attached now. The previous release stores no findings: the next report of a host adds its missing ones.
insert into host_findings (agent_id, device_id, fingerprint_id, severity, opened_at, last_attached)
select p.agent_id, p.device_id, p.design_id, d.severity, p.first_seen, p.last_seen
from peripherals p join designs d on d.design_id = p.design_id where p.present and d.severity >= 30;
