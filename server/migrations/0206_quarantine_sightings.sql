-- Address that the last check-in of a host came from, as this server saw it. Empty: none yet, or a host without an agent.
ALTER TABLE agent_heartbeats ADD COLUMN seen_address text NOT NULL DEFAULT '';

-- A person requested or approved the quarantine, so the system does not have to confirm its addresses.
ALTER TABLE nac_quarantines ADD COLUMN is_approved boolean NOT NULL DEFAULT false;
-- The addresses that await approval because the system does not see them at the host.
ALTER TABLE nac_quarantines ADD COLUMN unconfirmed text[] NOT NULL DEFAULT '{}';
UPDATE nac_quarantines q SET is_approved = true
WHERE NOT q.is_automatic OR EXISTS (SELECT FROM nac_steps s WHERE s.quarantine_id = q.quarantine_id AND s.step = 'approved');
