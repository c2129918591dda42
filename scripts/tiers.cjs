/** Folders of the checkout with code, lower first. A folder imports only lower ones; tests may import any (ARCHITECTURE.md). */
exports.FOLDERS = [
  'contract',
  'domain',
  'platform',
  'agent',
  'poller',
  'features',
  'cli',
  'console',
  'server',
  'scripts',
  'proof',
  'e2e',
]

/**
 * Capabilities (folders of `features/`) by tier, lower first. The server part of a capability may import and call only
 * capabilities of a lower tier (ARCHITECTURE.md).
 */
exports.TIERS = [
  ['audit', 'events'],
  ['settings', 'tags', 'views'],
  ['jobs', 'change-requests', 'deliveries', 'agents'],
  ['knowledge', 'commands', 'identity'],
  ['builds', 'devices'],
  ['policy', 'agentless', 'quarantine', 'assets'],
  ['hosts', 'rollouts', 'alerts'],
  ['ingest'],
  ['feeds', 'reports', 'operations'],
  ['health', 'overview'],
]
