-- The list of devices begins with attack tools, then the newest.
CREATE INDEX peripherals_severity ON peripherals (severity DESC, last_seen DESC, agent_id, device_id);
