import type { ConflictField } from '@portcullis/platform/console/ui/form/EditConflict.tsx'
import type { NotificationGroup } from '#features/contract.ts'
import { type Draft, draftOf } from './draft.ts'
import { strings } from './strings.ts'

/** Fields of a group that only make sense together. */
export const groupParts: readonly (readonly (keyof Draft)[])[] = [['isQuiet', 'quiet']]

const onOff = (isOn: boolean): string => (isOn ? strings.on : strings.off)

const members: readonly (readonly [name: string, of: (draft: Draft, group: NotificationGroup) => string])[] = [
  [strings.enabled, ({ isEnabled }) => onOff(isEnabled)],
  [strings.minimumSeverity, ({ minimumSeverity }) => minimumSeverity],
  [strings.tags, ({ hashtags }) => hashtags.replaceAll(',', ', ')],
  [
    strings.triggers,
    ({ on }, { notifications }) => notifications.flatMap(({ id, name }) => (on.includes(id) ? name : [])).join(', '),
  ],
  [strings.batchMinutes, ({ digestMinutes }) => digestMinutes],
  [
    strings.quietHours,
    ({ isQuiet, quiet }) => (isQuiet ? `${strings.quietTerm(quiet)} ${quiet.passSeverity}` : onOff(false)),
  ],
  [strings.email, ({ email }) => `${onOff(email.isEnabled)} ${email.recipients.replaceAll('\n', ', ')}`],
  [strings.webhook, ({ webhook }) => `${onOff(webhook.isEnabled)} ${webhook.url}${webhook.ca === '' ? '' : ' PEM'}`],
  [
    strings.syslog,
    ({ syslog }) =>
      `${onOff(syslog.isEnabled)} ${syslog.address} ${syslog.protocol} ${syslog.format}${syslog.ca === '' ? '' : ' PEM'}`,
  ],
]

/** Returns the properties that another person changed while a group was edited. */
export const groupConflict = (base: NotificationGroup, theirs: NotificationGroup, mine: Draft): ConflictField[] => {
  const [before, after] = [draftOf(base), draftOf(theirs)]
  return members.flatMap(([name, of]) =>
    of(before, base) === of(after, theirs)
      ? []
      : [{ name, before: of(before, base), theirs: of(after, theirs), mine: of(mine, theirs) }],
  )
}
