-- Tags choose options of signed policies (VENDORA_NO_LAST_KEYBOARD_TAGS, VENDORA_FAIL_CLOSED_TAGS): tagging a host with one
-- of them changes its policy, as tagging it with a tag of a rule does.
CREATE OR REPLACE FUNCTION queue_tagged_agents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO policy_queue (agent_id)
  SELECT DISTINCT c.agent_id FROM changed c JOIN agents a ON a.agent_id = c.agent_id
  WHERE c.tag_id IN (SELECT r.tag_id FROM policy_rules r WHERE r.tag_id IS NOT NULL)
    OR c.tag_id IN (
      SELECT t.tag_id FROM tags t
      JOIN config_items i ON i.name IN ('VENDORA_NO_LAST_KEYBOARD_TAGS', 'VENDORA_FAIL_CLOSED_TAGS')
      CROSS JOIN LATERAL unnest(string_to_array(i.value, ',')) o(tag)
      WHERE lower(trim(o.tag)) = lower(t.name))
  ORDER BY c.agent_id ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
