-- MAC over everything that the approver of a change request reads. Null: an earlier release filed the request and may not
-- show all of it.
ALTER TABLE change_requests ADD COLUMN shown_seal bytea;
