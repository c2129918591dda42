-- The hosts that allow a model, which approvals of the model show.
CREATE INDEX peripherals_allowed ON peripherals (design_id, agent_id) WHERE source IN (3, 4, 5, 6);
