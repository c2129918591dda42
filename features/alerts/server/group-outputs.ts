import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { parseSyslogAddress } from '@portcullis/platform/server/syslog/index.ts'
import { severityNames } from '#features/contract.ts'
import type { OutputPlan } from '#features/deliveries/server/index.ts'
import { certificatesOf } from '#features/settings/server/index.ts'
import { codesOf, type Group, healthCodes, heardAgainCode } from './groups.ts'

/**
 * Returns the active event streams of a group. `openKey` returns its webhook's signing secret, or null if it cannot be
 * opened.
 */
export const outputsOf = ({ definition, config }: Group, openKey: () => Secret | null): OutputPlan[] => {
  const { webhook, syslog } = config.channels
  const codes = codesOf(definition, config.off)
  if (!config.isEnabled || codes.length === 0) return []
  const wanted = {
    codes,
    severity: severityNames.indexOf(config.minimumSeverity),
    // Receivers that get a degradation also get the recovery.
    always: codes.filter(
      (code) => code === healthCodes.recovered || (definition.of === 'notices' && code === heardAgainCode),
    ),
    tags: config.hashtags.map(fold),
    entities:
      definition.of === 'subsystems'
        ? definition.switches.filter(({ id }) => !config.off.includes(id)).map(({ id }) => id)
        : null,
  }
  const shared = { groupId: definition.id, groupName: definition.groupName, wanted }
  const plans: OutputPlan[] = []
  const address = syslog.isEnabled ? parseSyslogAddress(syslog.address, syslog.protocol) : null
  if (address !== null)
    plans.push({
      ...shared,
      channel: 'syslog',
      destination: `${syslog.address}, ${syslog.protocol}, ${syslog.format}`,
      open: () => ({ kind: 'syslog', address, ca: certificatesOf(syslog.ca), format: syslog.format }),
    })
  if (definition.of === 'events' && webhook.isEnabled && webhook.url !== '')
    plans.push({
      ...shared,
      channel: 'webhook',
      destination: new URL(webhook.url).host,
      open: () => {
        const secret = openKey()
        return secret === null ? null : { kind: 'webhook', url: webhook.url, secret, ca: certificatesOf(webhook.ca) }
      },
    })
  return plans
}
