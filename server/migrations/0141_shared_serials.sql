-- Whether another host has a device of the same ids and serial number: a serial number that several have is nobody's own.
CREATE INDEX peripherals_device ON peripherals (device_id, agent_id) WHERE present AND serial <> '';
