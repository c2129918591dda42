import { apiPrefix, closed, nullable, operation, typedText, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

const base = `${apiPrefix}/systemNotification/notices`
const tag = 'Notification'

/** States of an alert. It has exactly one. */
export const alertStates = ['open', 'assigned', 'snoozed', 'closed'] as const
export type AlertState = (typeof alertStates)[number]
export const alertStateLabels: Readonly<Record<AlertState, string>> = {
  open: 'Open',
  assigned: 'Assigned',
  snoozed: 'Snoozed',
  closed: 'Closed',
}

/** Verdicts with which a person closes an alert. */
export const alertVerdicts = ['true', 'benign', 'false', 'test'] as const
export type AlertVerdict = (typeof alertVerdicts)[number]
export const alertVerdictLabels: Readonly<Record<AlertVerdict, string>> = {
  true: 'True positive',
  benign: 'Benign',
  false: 'False positive',
  test: 'Test',
}
/** What each verdict says, for the person who chooses it. */
export const alertVerdictHelp: Readonly<Record<AlertVerdict, string>> = {
  true: 'The alert was right, and the device or event was a threat.',
  benign: 'The alert was right, but the device or event is legitimate.',
  false: 'The alert was wrong.',
  test: 'Somebody tested the detection.',
}

/** Verdicts that say that nothing has to be done. */
export const harmlessVerdicts: readonly AlertVerdict[] = ['benign', 'false']
/** Alerts or findings that one call can close as harmless without fresh authentication. */
export const harmlessAtOnce = 50

/** Alerts at least this severe need a verdict: Critical and above. */
export const verdictSeverity = 2

/** Alerts per call. */
export const casesAtOnce = 500
/** Longest snooze. */
export const snoozeDaysMost = 90
/** Entries of the history in a response. */
export const historyMost = 200

/** Actions in the history of an alert. */
export const alertActions = [
  'opened',
  'reopened',
  'raised',
  'assigned',
  'released',
  'snoozed',
  'woken',
  'commented',
  'closed',
  'muted',
  'ended',
  'undone',
] as const
export type AlertAction = (typeof alertActions)[number]

const commentText = (description: string) => typedText({ maxLength: 4_000, description }, 'lines')

/** The members that make an alert a case. */
export const caseMembers = {
  state: Type.Enum(alertStates, {
    'x-label': 'State',
    'x-labels': alertStateLabels,
    description:
      'closed: somebody closed the alert, or its condition ended. snoozed: hidden until `snoozedUntil`. assigned: it has an owner. Otherwise open.',
  }),
  owner: Type.String({
    'x-label': 'Owner',
    maxLength: 256,
    description: 'User name of the account that handles the alert. Empty: nobody.',
  }),
  snoozedUntil: Type.String({
    maxLength: 40,
    description: 'End of the snooze: RFC 3339 with `Z`. Empty: the alert is not snoozed.',
  }),
  verdict: Type.Enum(['', ...alertVerdicts], {
    'x-label': 'Verdict',
    'x-labels': alertVerdictLabels,
    description: 'Verdict of the person who closed the alert. Empty: it is open, or it was closed without a verdict.',
  }),
}

export const AlertHistoryEntry = closed({
  time: utcTime('Time of the entry.'),
  by: Type.String({ description: 'Name of the account, or `system`.' }),
  action: Type.Enum(alertActions, {
    description:
      'opened, reopened and raised: caused by events. ended: the condition of the alert ended. woken: the snooze ended. undone: a person reopened the alert.',
  }),
  detail: Type.String({
    description:
      'assigned: name of the owner. snoozed: end of the snooze. closed: the verdict. muted: end of the mute. Otherwise the reason, as a sentence. Can be empty.',
  }),
  comment: Type.String({ description: 'Comment of the person. Can be empty.' }),
})
export type AlertHistoryEntry = Static<typeof AlertHistoryEntry>

const ids = Type.Array(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), {
  minItems: 1,
  maxItems: casesAtOnce,
  uniqueItems: true,
  description: `IDs of risk or health alerts, at most ${casesAtOnce}. If one does not exist, no alert changes (404).`,
})
const changed = closed({
  changed: Type.Array(Type.Integer(), { description: 'IDs of the alerts that the call changed.' }),
})

const change = (id: string, path: string, summary: string, description: string) => ({
  id,
  method: 'POST' as const,
  path: `${base}/${path}`,
  tag,
  summary,
  description: `${description} The call is audited, and each changed alert raises an event for webhooks and SIEMs.`,
  permission: 'notices:dismiss' as const,
  response: changed,
})

export const assignAlerts = operation({
  ...change(
    'assignAlerts',
    'assign',
    'Assigns alerts to an account',
    'A closed alert cannot be assigned (409). If the same problem occurs again after the closing, the alert reopens without an owner.',
  ),
  body: closed({
    ids,
    owner: nullable(Type.String({ maxLength: 256 }), {
      description: 'User name of an enabled account, ignoring case. Null: the alerts have no owner.',
    }),
  }),
  errors: ['not_found', 'conflict'],
  examples: { request: { ids: [7], owner: 'jane' }, response: { changed: [7] } },
})

export const snoozeAlerts = operation({
  ...change(
    'snoozeAlerts',
    'snooze',
    'Hides alerts until a time',
    'A snoozed alert is not counted, and lists return it only with `state=snoozed`. It returns unread at the given time, or earlier if its severity rises or an attack reaches a further host. A closed alert cannot be snoozed (409).',
  ),
  body: closed({
    ids,
    until: nullable(utcTime(`End of the snooze, at most ${snoozeDaysMost} days from now.`), {
      description: 'Null: the snooze ends now.',
    }),
  }),
  errors: ['not_found', 'conflict'],
  examples: { request: { ids: [7], until: '2031-05-05T08:00:00Z' }, response: { changed: [7] } },
})

export const closeAlerts = operation({
  ...change(
    'closeAlerts',
    'close',
    'Closes alerts with a verdict',
    `Alerts of severity Critical or above need a verdict. More than ${harmlessAtOnce} alerts can be closed as \`benign\` or \`false\` only with fresh authentication. Alerts that are closed already do not change. If the same problem occurs again, the alert reopens with its ID and count. With \`findings\`, the call also closes these findings. If it cannot close one of them, it changes nothing. This needs the permission \`fleet:write\` and a verdict. The rules of \`POST /prime/webui/findings/close\` apply.`,
  ),
  fresh: `it closes more than ${harmlessAtOnce} alerts or findings as \`benign\` or \`false\``,
  body: closed({
    ids,
    verdict: Type.Optional(
      Type.Enum(alertVerdicts, { description: 'Required if one of the alerts is Critical or above.' }),
    ),
    comment: Type.Optional(commentText('Reason, at most 4,000 characters.')),
    findings: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
        minItems: 1,
        maxItems: casesAtOnce,
        uniqueItems: true,
        description:
          'IDs of open findings that the alerts are about, to close with the same verdict and comment. `GET /prime/webui/findings?alert=7&state=Open` lists those of alert 7.',
      }),
    ),
  }),
  errors: ['not_found', 'conflict'],
  examples: {
    request: { ids: [7], verdict: 'benign', comment: 'Test device of the red team' },
    response: { changed: [7] },
  },
})

export const reopenAlerts = operation({
  ...change(
    'reopenAlerts',
    'reopen',
    'Reopens closed alerts',
    'Undoes a closing: the alerts keep their owner, and have no verdict. If an alert was muted, its mute ends. Alerts that are not closed do not change.',
  ),
  body: closed({ ids }),
  errors: ['not_found'],
  examples: { request: { ids: [7] }, response: { changed: [7] } },
})

export const commentAlerts = operation({
  ...change(
    'commentAlerts',
    'comment',
    'Adds a comment to the history of alerts',
    'Closed alerts also accept comments.',
  ),
  body: closed({
    ids,
    comment: typedText(
      { minLength: 1, maxLength: 4_000, pattern: '\\S', description: 'At most 4,000 characters.' },
      'lines',
    ),
  }),
  errors: ['not_found'],
  examples: { request: { ids: [7], comment: 'Asked the user; waiting for an answer' }, response: { changed: [7] } },
})

const seconds = (what: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: `${what}, in seconds. Null: there were none.`,
  })
const period = (days: number) =>
  closed(
    {
      acknowledged: Type.Integer({
        minimum: 0,
        description: 'Alerts on which a person acted for the first time in this period.',
      }),
      medianToAcknowledge: seconds('Median time from the opening of an alert to the first action of a person'),
      closed: Type.Integer({ minimum: 0, description: 'Alerts that a person closed in this period.' }),
      medianToClose: seconds('Median time from the opening of an alert to its closing by a person'),
    },
    { description: `The last ${days} days.` },
  )

export const alertTimes = operation({
  id: 'alertTimes',
  method: 'GET',
  path: `${apiPrefix}/systemNotification/responseTimes`,
  tag,
  summary: 'Returns how fast people acknowledge and close alerts',
  description: 'Alerts that the server ended, and closings that were undone, do not count.',
  permission: 'notices:read',
  response: closed({ days7: period(7), days30: period(30) }),
})
export type AlertTimes = Static<typeof alertTimes.response>
