import type { Vulnerability } from '@portcullis/domain'
import type { FollowedEvent } from '#features/system/events/index.ts'

/** What the inventory says is wrong with devices. */
export type Findings = (
  devices: readonly { agentId: string; deviceId: string }[],
) => Promise<readonly { evidence: readonly string[]; vulnerabilities: readonly Vulnerability[] }[]>

const most = 20

/** Which entry or advisory the devices behind a notice were matched by, in words; as it is known now. */
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
  const words = found.flatMap(({ evidence, vulnerabilities }) =>
    kind === 'attackTool'
      ? evidence
      : vulnerabilities
          // A match on a whole family makes no notice.
          .filter(({ confidence }) => confidence !== 'family')
          .map(({ id, cvss, weakness }) => `${id}${cvss === null ? '' : ` (CVSS ${cvss.toFixed(1)})`}: ${weakness}`),
  )
  return [...new Set(words)].slice(0, most)
}
