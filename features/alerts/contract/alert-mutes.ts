import { apiPrefix, closed, operation, typedText, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { type AlertKind, alertCatalogue, alertKinds } from './alert-catalogue.ts'

const base = `${apiPrefix}/systemNotification/mutes`
const tag = 'Notification'

/** Longest mute. */
export const muteDaysMost = 365

/** Kinds of alerts that can be muted for a model: all about models, except attacks. */
export const mutableKinds: readonly AlertKind[] = alertKinds.filter(
  (kind) => alertCatalogue[kind].subject === 'model' && alertCatalogue[kind].group !== 'Attacks',
)

const muteId = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'ID of the mute.' })

export const AlertMute = closed({
  id: muteId,
  kind: Type.Enum(alertKinds, { description: 'Kind of the muted alerts.' }),
  model: Type.String({ description: '`VID:PID` of the model.' }),
  name: Type.String({ description: 'Vendor and product name of the model. Can be empty.' }),
  until: utcTime('End of the mute.'),
  reason: Type.String({ description: 'Reason for the mute, at most 1,000 characters.' }),
  createdBy: Type.String({ description: 'Account that muted the alerts.' }),
  creationTime: utcTime('Start of the mute.'),
  suppressed: Type.Integer({ minimum: 0, description: 'Events that raised no alert because of the mute.' }),
})
export type AlertMute = Static<typeof AlertMute>

export const listAlertMutes = operation({
  id: 'listAlertMutes',
  method: 'GET',
  path: base,
  tag,
  summary: 'Lists the mutes of alerts about models, by their end',
  permission: 'notices:read',
  response: Type.Array(AlertMute),
})

const effects = 'The call is audited.'

export const muteAlert = operation({
  id: 'muteAlert',
  method: 'POST',
  path: base,
  tag,
  summary: 'Mutes the alerts of a kind about the model of an alert',
  description: `Closes the alert. Until the given time, events of this kind about the model raise no alert. They are stored and sent to SIEMs as usual. If there were such events, the alert reopens when the mute ends. A mute of the same kind and model is replaced and keeps its count. Alerts about attacks, and those that are not about one model, cannot be muted (409). ${effects}`,
  permission: 'notices:dismiss',
  body: closed({
    id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'ID of the alert.' }),
    until: utcTime(`End of the mute, at most ${muteDaysMost} days from now.`),
    reason: typedText({ minLength: 1, maxLength: 1_000, pattern: '\\S', description: 'At most 1,000 characters.' }),
  }),
  response: closed({ id: muteId }),
  errors: ['not_found', 'conflict'],
  examples: {
    request: { id: 7, until: '2031-06-01T00:00:00Z', reason: 'New headset of the call centre' },
    response: { id: 3 },
  },
})

export const endAlertMute = operation({
  id: 'endAlertMute',
  method: 'DELETE',
  path: `${base}/{id}`,
  tag,
  summary: 'Ends a mute',
  description: `New events raise alerts again. If the mute held back events, its alert reopens within seconds. ${effects}`,
  permission: 'notices:dismiss',
  params: closed({ id: muteId }),
  response: Type.Boolean({ description: 'True.' }),
  errors: ['not_found'],
})
