import type { BodyOf, BulkAction, previewBulk, ResponseOf } from '@portcullis/contract'
import { basisText, worksAgainText } from '../../../ui/policy/labels.ts'
import type { Severity } from '../../../ui/theme/tokens.ts'

export type BulkPreview = ResponseOf<typeof previewBulk>

/** Which hosts: named ones, or whatever a filter of the list leaves. */
export type BulkHosts = Pick<BodyOf<typeof previewBulk>, 'uuids' | 'filter'>

interface BulkWords {
  /** On the button that opens the dialog. */
  button: string
  title: string
  /** What happens to each host, in a sentence. */
  effect: string
  /** On the button that does it. */
  action: string
  /** Told after it, with the number of hosts. */
  done: (hosts: string) => string
  /** How hosts are said to be that need nothing. */
  unchanged: string
  isDangerous?: boolean
}

/** The actions on many hosts in words. */
export const bulkWords: Readonly<Record<BulkAction, BulkWords>> = {
  arm: {
    button: 'Arm…',
    title: 'Arm hosts',
    effect: 'A device that is attached from now on works only when a rule allows it.',
    action: 'Arm',
    done: (hosts) => `Arming ${hosts}.`,
    unchanged: 'armed already',
  },
  free: {
    button: 'Free…',
    title: 'Free hosts',
    effect: 'Every block is lifted at once; devices are observed and no longer stopped.',
    action: 'Free',
    done: (hosts) => `Freeing ${hosts}.`,
    unchanged: 'free already',
    isDangerous: true,
  },
  approveAll: {
    button: 'Approve all…',
    title: 'Approve what is attached',
    effect: 'Each device that is attached now is allowed on its host. Attack tools are left out.',
    action: 'Approve all',
    done: (hosts) => `Approving what is attached to ${hosts}.`,
    unchanged: 'without a device to approve',
  },
  update: {
    button: 'Update…',
    title: 'Update agents',
    effect: 'Each agent fetches the newest published build, and goes back by itself when that does not work.',
    action: 'Update',
    done: (hosts) => `Updating ${hosts}.`,
    unchanged: 'on the newest build already',
  },
  collectLogs: {
    button: 'Collect logs…',
    title: 'Collect debug logs',
    effect: 'Each agent sends its own log. It holds no secrets; the newest five of a host are kept.',
    action: 'Collect',
    done: (hosts) => `Collecting logs of ${hosts}.`,
    unchanged: 'being asked already',
  },
  cancelCommands: {
    button: 'Cancel commands…',
    title: 'Cancel commands',
    effect: 'Commands that are not confirmed yet are cancelled. A host that is carrying one out still ends it.',
    action: 'Cancel the commands',
    done: (hosts) => `Cancelling commands of ${hosts}.`,
    unchanged: 'without a pending command',
  },
  tag: {
    button: 'Put tags on…',
    title: 'Put tags on hosts',
    effect: 'Each host gets the tags, and what depends on them follows.',
    action: 'Put on',
    done: (hosts) => `Putting tags on ${hosts}.`,
    unchanged: 'tagged already',
  },
  untag: {
    button: 'Take tags off…',
    title: 'Take tags off hosts',
    effect: 'Each host loses the tags, and what depends on them follows.',
    action: 'Take off',
    done: (hosts) => `Taking tags off ${hosts}.`,
    unchanged: 'without them already',
  },
  delete: {
    button: 'Remove…',
    title: 'Remove agents',
    effect: 'Their keys are revoked within a second. They come back only by a new enrolment. Events and audit stay.',
    action: 'Remove',
    done: (hosts) => `Removing ${hosts}.`,
    unchanged: 'removed already',
    isDangerous: true,
  },
}

const number = (value: number) => value.toLocaleString('en')

/** A number of hosts in words. */
export const hostsText = (count: number): string => `${number(count)} ${count === 1 ? 'host' : 'hosts'}`
const areText = (count: number): string => `${hostsText(count)} ${count === 1 ? 'is' : 'are'}`

/** Hosts that were selected: those it is for, and those that are left out. */
export const selected = ({ agents, impossible }: BulkPreview): number =>
  agents + impossible.reduce((sum, one) => sum + one.agents, 0)

/** A line of the preview, with how serious it is. */
export interface PreviewLine {
  text: string
  severity: Severity | null
}

/** What the server says would happen, as sentences; the gravest first. */
export const previewLines = (preview: BulkPreview, applyToPresent: boolean): PreviewLine[] => {
  const { action, attackTools, blocked, disconnected, impossible, mismatched, prediction, unchanged, worksAgain } =
    preview
  const lines: PreviewLine[] = []
  const again = worksAgainText(worksAgain)
  if (again !== null) lines.push(again)
  if (attackTools > 0) {
    lines.push({
      text: `${number(attackTools)} attack ${attackTools === 1 ? 'tool is' : 'tools are'} attached now and ${attackTools === 1 ? 'stops' : 'stop'} working.`,
      severity: 'red',
    })
  }
  if (mismatched.peripherals > 0) {
    const isOne = mismatched.peripherals === 1
    lines.push({
      text: `${number(mismatched.peripherals)} attached ${isOne ? 'device' : 'devices'} on ${hostsText(mismatched.agents)} ${isOne ? 'has' : 'have'} a kernel driver that is not allowed for ${isOne ? 'its' : 'their'} kind. ${isOne ? 'It stops working, and its port is held.' : 'They stop working, and their ports are held.'}`,
      severity: 'red',
    })
  }
  if (blocked.peripherals > 0) {
    const devices = `${number(blocked.peripherals)} attached ${blocked.peripherals === 1 ? 'device' : 'devices'} on ${hostsText(blocked.agents)}`
    lines.push({
      text: applyToPresent
        ? `${devices} stop working at once: no rule allows them.`
        : `${devices} would be blocked when attached anew: no rule allows them. They go on working until then.`,
      severity: 'amber',
    })
  }
  for (const { reason, agents } of impossible)
    lines.push({ text: `${hostsText(agents)} left out: ${reason}`, severity: 'amber' })
  if (unchanged > 0) lines.push({ text: `${areText(unchanged)} ${bulkWords[action].unchanged}.`, severity: null })
  if (disconnected > 0 && action !== 'delete' && action !== 'cancelCommands')
    lines.push({
      text: `${areText(disconnected)} not connected and ${disconnected === 1 ? 'gets' : 'get'} it when back.`,
      severity: null,
    })
  if (prediction !== null) lines.push({ text: basisText(prediction), severity: null })
  return lines
}

/** The action that takes this one back; null where nothing does. */
export const opposite = (action: BulkAction): 'arm' | 'free' | null =>
  action === 'arm' ? 'free' : action === 'free' ? 'arm' : null

/** Above this many hosts a click is too easy: the number is typed. */
export const typedAbove = 1_000
