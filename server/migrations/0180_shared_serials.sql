-- A serial number that a device on another host also has is not unique, whatever the models.
CREATE INDEX peripherals_serial ON peripherals (serial_folded, agent_id) WHERE serial <> '';
