/** Features by tier, lower first. A feature may import and call only features of a lower tier (ARCHITECTURE.md). */
exports.TIERS = [
  ['audit', 'events'],
  ['settings', 'tags'],
  ['jobs', 'approvals', 'mail', 'agents'],
  ['packages', 'knowledge', 'commands', 'deliveries', 'licence'],
  ['accounts', 'peripherals', 'held-ports', 'windows'],
  ['policy', 'agentless', 'directory', 'nac', 'assets', 'insights'],
  ['actions', 'ingest', 'notifications', 'rollouts'],
  ['exports', 'document', 'backup', 'hosts', 'feeds'],
  ['reports', 'sealing'],
  ['health'],
]
