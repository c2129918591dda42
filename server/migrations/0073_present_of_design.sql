-- Present devices of a design without reading those that are gone: a rare design may have been common once.
CREATE INDEX peripherals_design_present ON peripherals (design_id, present);
DROP INDEX peripherals_design;
