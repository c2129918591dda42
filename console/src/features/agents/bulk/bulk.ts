import type { BodyOf, BulkAction, previewBulk, ResponseOf } from '@portcullis/contract'
import { basisText, worksAgainText } from '../../../ui/policy/labels.ts'
import type { Severity } from '../../../ui/theme/tokens.ts'
import { strings } from '../strings.ts'

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
    button: strings.arm,
    title: strings.armHosts,
    effect: strings.aDeviceThatIsAttachedFrom,
    action: strings.arm2,
    done: (hosts) => strings.armingHosts({ hosts }),
    unchanged: 'armed already',
  },
  free: {
    button: strings.free,
    title: strings.freeHosts,
    effect: strings.everyBlockIsLiftedAtOnce,
    action: strings.free2,
    done: (hosts) => strings.freeingHosts({ hosts }),
    unchanged: 'free already',
    isDangerous: true,
  },
  approveAll: {
    button: strings.approveAll,
    title: strings.approveWhatIsAttached,
    effect: strings.eachDeviceThatIsAttachedNow,
    action: strings.approveAll2,
    done: (hosts) => strings.approvingWhatIsAttachedToHosts({ hosts }),
    unchanged: 'without a device to approve',
  },
  update: {
    button: strings.update,
    title: strings.updateAgents,
    effect: strings.eachAgentFetchesTheNewestPublished,
    action: strings.update2,
    done: (hosts) => strings.updatingHosts({ hosts }),
    unchanged: 'on the newest build already',
  },
  collectLogs: {
    button: strings.collectLogs,
    title: strings.collectDebugLogs,
    effect: strings.eachAgentSendsItsOwnLog,
    action: strings.collect,
    done: (hosts) => strings.collectingLogsOfHosts({ hosts }),
    unchanged: 'being asked already',
  },
  cancelCommands: {
    button: strings.cancelCommands,
    title: strings.cancelCommands2,
    effect: strings.commandsThatAreNotConfirmedYet,
    action: strings.cancelTheCommands,
    done: (hosts) => strings.cancellingCommandsOfHosts({ hosts }),
    unchanged: 'without a pending command',
  },
  tag: {
    button: strings.putTagsOn,
    title: strings.putTagsOnHosts,
    effect: strings.eachHostGetsTheTagsAnd,
    action: strings.putOn,
    done: (hosts) => strings.puttingTagsOnHosts({ hosts }),
    unchanged: 'tagged already',
  },
  untag: {
    button: strings.takeTagsOff,
    title: strings.takeTagsOffHosts,
    effect: strings.eachHostLosesTheTagsAnd,
    action: strings.takeOff,
    done: (hosts) => strings.takingTagsOffHosts({ hosts }),
    unchanged: 'without them already',
  },
  delete: {
    button: strings.remove,
    title: strings.removeAgents,
    effect: strings.theirKeysAreRevokedWithinA,
    action: strings.remove2,
    done: (hosts) => strings.removingHosts({ hosts }),
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
      text: strings.attacktoolsAttackAttacktoolsOtherToolsAttached({ attackTools }),
      severity: 'red',
    })
  }
  if (mismatched.peripherals > 0) {
    const isOne = mismatched.peripherals === 1
    lines.push({
      text: strings.peripheralsAttachedValueOnAgentsValue2({
        peripherals: mismatched.peripherals,
        value: isOne ? 'device' : 'devices',
        agents: hostsText(mismatched.agents),
        value2: isOne ? 'has' : 'have',
        value3: isOne ? 'its' : 'their',
        value4: isOne ? strings.itStopsWorkingAndItsPort : strings.theyStopWorkingAndTheirPorts,
      }),
      severity: 'red',
    })
  }
  if (blocked.peripherals > 0) {
    const devices = strings.peripheralsAttachedPeripheralsOtherDevicesOn({
      peripherals: blocked.peripherals,
      agents: hostsText(blocked.agents),
    })
    lines.push({
      text: applyToPresent
        ? strings.devicesStopWorkingAtOnceNo({ devices })
        : strings.devicesWouldBeBlockedWhenAttached({ devices }),
      severity: 'amber',
    })
  }
  for (const { reason, agents } of impossible)
    lines.push({ text: strings.agentsLeftOutReason({ agents: hostsText(agents), reason }), severity: 'amber' })
  if (unchanged > 0) lines.push({ text: `${areText(unchanged)} ${bulkWords[action].unchanged}.`, severity: null })
  if (disconnected > 0 && action !== 'delete' && action !== 'cancelCommands')
    lines.push({
      text: strings.disconnectedNotConnectedAndDisconnected2Other({
        disconnected: areText(disconnected),
        disconnected2: disconnected,
      }),
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
