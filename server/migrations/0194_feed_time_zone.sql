-- IANA time zone of times without one in the lines of a feed. Empty: unknown.
alter table feeds add column time_zone text not null default '';
