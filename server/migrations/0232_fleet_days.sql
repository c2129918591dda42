-- The numbers of the fleet at the end of each day (UTC), for the trends of the overview. One row a day.
CREATE TABLE fleet_days (
  day date PRIMARY KEY,
  noted_at timestamptz NOT NULL,
  hosts int NOT NULL,
  connected int NOT NULL,
  protected int NOT NULL,
  possible int NOT NULL,
  impossible int NOT NULL,
  attack_tools int NOT NULL,
  vulnerable int NOT NULL,
  unapproved int NOT NULL
);
