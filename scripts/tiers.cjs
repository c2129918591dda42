/**
 * Capabilities (folders of `features/`) by tier, lower first. The server part of a capability may import and call only
 * capabilities of a lower tier (ARCHITECTURE.md).
 */
exports.TIERS = [
  ['audit', 'events'],
  ['settings', 'tags'],
  ['jobs', 'change-requests', 'deliveries', 'agents'],
  ['knowledge', 'commands', 'identity'],
  ['builds', 'devices'],
  ['policy', 'agentless', 'quarantine', 'assets'],
  ['hosts', 'rollouts', 'alerts'],
  ['ingest'],
  ['feeds', 'reports', 'operations'],
  ['health', 'overview'],
]
