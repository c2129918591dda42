import { notFound } from '@portcullis/platform/server/app-error.ts'
import { JsonText } from '@portcullis/platform/server/http/answer.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import type { Agent, AgentDetail } from '#features/contract.ts'
import type { HostsContext } from './context.ts'

const enforcementWords: Readonly<Record<string, string>> = {
  'before-driver': 'can block a device before a driver binds to it',
  'after-attach': 'can block a device after it was attached',
  'before-install': 'can keep Windows from installing a driver for a device',
  observe: 'is only monitored',
}

interface ModeFacts {
  armed: boolean
  whitelist: boolean
  enforcement: string
  facts: { enforcementReason?: string } | null
}

/** Describes the mode of a host and the reasons for it, in sentences. */
const modeSummary = ({ armed, whitelist, enforcement, facts }: ModeFacts, rules: number): string => {
  const mode = armed ? 'Armed: blocks devices that no rule allows.' : 'Free: observes devices and blocks nothing.'
  const inForce = rules === 0 ? 'No rules apply' : `${rules} ${rules === 1 ? 'rule applies' : 'rules apply'}`
  const listed = whitelist ? '; devices that no rule allows count as unapproved' : ''
  const why = facts?.enforcementReason ?? ''
  return `${mode} ${inForce}${armed ? '' : listed}. This host ${enforcementWords[enforcement] ?? enforcementWords.observe}.${why === '' ? '' : ` ${why}`}`
}

/** Returns one host with all data of its page. The parts are JSON text from the database. */
export const createHostDetail =
  ({ agents, peripherals, commands, policy, events }: HostsContext) =>
  async (agentId: string): Promise<JsonText> => {
    const missing = notFound('No agent has this uuid.')
    if (!isId(agentId)) throw missing
    const [found, attached, pendingCommands, debugLogs, rules, recent] = await Promise.all([
      agents.one(agentId),
      peripherals.ofAgent(agentId),
      commands.pendingOf(agentId),
      commands.logsOf([agentId]),
      policy.ofAgent(agentId),
      events.recentOf(agentId, 50),
    ])
    if (found === null) throw missing
    const { row, detail } = found
    const mode = detail.armed ? 'Armed' : 'Free'
    const rest: Omit<AgentDetail, keyof Agent | 'peripherals' | 'recentEvents'> = {
      pendingCommands,
      policy: {
        mode,
        version: rules.version,
        summary: modeSummary(detail, rules.rules.length),
        enforcement: detail.enforcement,
        heldVersion: detail.policy_version,
        reason: detail.mode_reason,
        whitelist: detail.whitelist,
        rules: rules.rules,
      },
      riskFactors: detail.risk_factors,
      nics: detail.nics,
      notes: detail.notes,
      debugLogs: debugLogs.map(({ agentId: _, ...log }) => log),
      facts: {
        osName: '',
        osVersion: '',
        kernel: '',
        architecture: '',
        vendor: '',
        model: '',
        chassis: '',
        sku: '',
        ...detail.facts,
      },
      possibleDuplicates: detail.possible_duplicates,
    }
    return new JsonText(
      `${row.slice(0, -1)},"peripherals":[${attached.join(',')}],"recentEvents":${JSON.stringify(recent)},${JSON.stringify(rest).slice(1)}`,
    )
  }
