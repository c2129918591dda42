import type { Vulnerability } from '@portcullis/domain'
import type { FollowedEvent } from '#features/events/server/index.ts'

/** Returns the findings about devices from the inventory. */
export type Findings = (
  devices: readonly { agentId: string; deviceId: string }[],
) => Promise<readonly { evidence: readonly string[]; vulnerabilities: readonly Vulnerability[] }[]>

const most = 20

/** Describes the current entries or advisories that match the devices of an alert. */
export const matchedOf = async (
  kind: string,
  events: readonly FollowedEvent[],
  findings: Findings,
): Promise<string[]> => {
  if (kind !== 'attackTool' && kind !== 'vulnerable') return []
  const devices = events.flatMap(({ agent_id, device_id }) =>
    agent_id === null || device_id === null ? [] : [{ agentId: agent_id, deviceId: device_id }],
  )
  const found = devices.length === 0 ? [] : await findings(devices)
  const reasons = found.flatMap(({ evidence, vulnerabilities }) =>
    kind === 'attackTool'
      ? evidence
      : vulnerabilities
          // A match on a whole family raises no alert.
          .filter(({ confidence }) => confidence !== 'family')
          .map(({ id, cvss, weakness }) => `${id}${cvss === null ? '' : ` (CVSS ${cvss.toFixed(1)})`}: ${weakness}`),
  )
  return [...new Set(reasons)].slice(0, most)
}
