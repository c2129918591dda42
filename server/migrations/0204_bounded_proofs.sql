-- Whether the agent signs a nonce of the server if its clock is wrong. The server then accepts no other old proof of it.
ALTER TABLE agent_heartbeats ADD COLUMN bounded_proofs boolean NOT NULL DEFAULT false;
