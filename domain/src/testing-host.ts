import type { HostFacts } from '@portcullis/contract/agent-reports.ts'

/** A host with only the required facts. */
export const plainHost = (hostname: string): HostFacts => ({
  hostname,
  address: '10.0.0.1',
  osName: 'Debian',
  osVersion: '12',
  kernel: '6',
  architecture: 'x64',
  vendor: '',
  model: '',
  chassis: '',
  sku: '',
  nics: [],
  agentVersion: '1.0.0',
  enforcement: 'observe',
})
