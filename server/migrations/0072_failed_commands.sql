-- Failed commands of all agents over a time; they are few among those that ended.
CREATE INDEX commands_failed ON commands (ended_at) WHERE state = 'failed';
