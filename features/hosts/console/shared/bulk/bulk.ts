import type { Severity } from '@portcullis/platform/console/ui/theme/tokens.ts'
import { type BodyOf, type BulkAction, predictedDays, type previewBulk, type ResponseOf } from '#features/contract.ts'
import { basisText, worksAgainText } from '#features/policy/console/shared/labels.ts'
import { strings } from '../../strings.ts'

export type BulkPreview = ResponseOf<typeof previewBulk>

/** The hosts: named hosts, or all that match a filter. */
export type BulkHosts = Pick<BodyOf<typeof previewBulk>, 'uuids' | 'filter'>

interface BulkLabels {
  /** Label of the button that opens the dialog. */
  button: string
  title: string
  /** Says what happens to each host. */
  effect: string
  /** Label of the button that runs the action. */
  action: string
  /** Message after the action. */
  done: (values: { hosts: number }) => string
  /** Says how many hosts need no change. */
  unchanged: (values: { count: number }) => string
  isDangerous?: boolean
}

/** Labels of the bulk actions. */
export const bulkLabels: Readonly<Record<BulkAction, BulkLabels>> = {
  arm: {
    button: strings.askArm,
    title: strings.armHosts,
    effect: strings.armEffect,
    action: strings.arm,
    done: strings.arming,
    unchanged: strings.unchangedArm,
  },
  free: {
    button: strings.askFree,
    title: strings.freeHosts,
    effect: strings.freeEffect,
    action: strings.free,
    done: strings.freeing,
    unchanged: strings.unchangedFree,
    isDangerous: true,
  },
  approveAll: {
    button: strings.askApproveAll,
    title: strings.approveAttached,
    effect: strings.approveAllEffect,
    action: strings.approveAll,
    done: strings.approving,
    unchanged: strings.unchangedApproveAll,
  },
  update: {
    button: strings.askUpdate,
    title: strings.updateAgents,
    effect: strings.updateEffect,
    action: strings.update,
    done: strings.updating,
    unchanged: strings.unchangedUpdate,
  },
  collectLogs: {
    button: strings.askCollectLogs,
    title: strings.collectDebugLogs,
    effect: strings.collectEffect,
    action: strings.collectLogs,
    done: strings.collecting,
    unchanged: strings.unchangedCollectLogs,
  },
  cancelCommands: {
    button: strings.askCancelCommands,
    title: strings.cancelCommands,
    effect: strings.cancelCommandsEffect,
    action: strings.cancelCommands,
    done: strings.cancelling,
    unchanged: strings.unchangedCancelCommands,
  },
  tag: {
    button: strings.askAddTags,
    title: strings.addTagsTitle,
    effect: strings.addTagsEffect,
    action: strings.addTags,
    done: strings.addingTags,
    unchanged: strings.unchangedTag,
  },
  untag: {
    button: strings.askRemoveTags,
    title: strings.removeTagsTitle,
    effect: strings.removeTagsEffect,
    action: strings.removeTags,
    done: strings.removingTags,
    unchanged: strings.unchangedUntag,
  },
  delete: {
    button: strings.askRemove,
    title: strings.removeTitle,
    effect: strings.removeEffect,
    action: strings.remove,
    done: strings.removing,
    unchanged: strings.unchangedDelete,
    isDangerous: true,
  },
}

/** Returns the number of selected hosts, including those left out. */
export const selected = ({ agents, impossible }: BulkPreview): number =>
  agents + impossible.reduce((sum, one) => sum + one.agents, 0)

/** A line of the preview, with its severity. */
export interface PreviewLine {
  text: string
  severity: Severity | null
}

/** Returns the effects from the preview as sentences, most severe first. */
export const previewLines = (preview: BulkPreview, applyToPresent: boolean): PreviewLine[] => {
  const {
    action,
    agents,
    attackTools,
    blocked,
    disconnected,
    impossible,
    mismatched,
    prediction,
    unchanged,
    worksAgain,
  } = preview
  const lines: PreviewLine[] = []
  const again = worksAgainText(worksAgain)
  if (again !== null) lines.push(again)
  else if (action === 'free' && agents > unchanged) lines.push({ text: strings.noneWorksAgain, severity: null })
  if (attackTools > 0) {
    lines.push({
      text: strings.attackToolsStop({ count: attackTools }),
      severity: 'red',
    })
  }
  if (mismatched.peripherals > 0) {
    lines.push({
      text: strings.mismatched({ devices: mismatched.peripherals, hosts: mismatched.agents }),
      severity: 'red',
    })
  }
  if (blocked.peripherals > 0) {
    // The simulation below also counts devices that were seen recently and are detached now.
    const all = prediction?.blocked.peripherals ?? 0
    const text =
      all > blocked.peripherals
        ? (applyToPresent ? strings.blockedNowOf : strings.blockedLaterOf)({
            devices: blocked.peripherals,
            all,
            days: predictedDays,
          })
        : (applyToPresent ? strings.blockedNow : strings.blockedLater)({
            devices: blocked.peripherals,
            hosts: blocked.agents,
          })
    lines.push({ text, severity: 'amber' })
  }
  for (const { reason, agents: hosts } of impossible)
    lines.push({ text: strings.leftOut({ hosts, reason }), severity: 'amber' })
  if (unchanged > 0) lines.push({ text: bulkLabels[action].unchanged({ count: unchanged }), severity: null })
  if (disconnected > 0 && action !== 'delete' && action !== 'cancelCommands')
    lines.push({ text: strings.disconnectedHosts({ hosts: disconnected }), severity: null })
  // When arming, the simulation states what its numbers are based on. Freeing only concerns attached devices.
  if (prediction !== null && action !== 'arm' && action !== 'free')
    lines.push({ text: basisText(prediction), severity: null })
  return lines
}

/** Returns the action that undoes this one; null if none does. */
export const opposite = (action: BulkAction): 'arm' | 'free' | null =>
  action === 'arm' ? 'free' : action === 'free' ? 'arm' : null

/** The action that usually follows another on the same hosts. */
export const nextAction: Readonly<Partial<Record<BulkAction, BulkAction>>> = { approveAll: 'arm' }

/** Above this number of hosts, the user types the number to confirm. */
export const typedAbove = 1_000
