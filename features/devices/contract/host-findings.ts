import {
  booleanFilter,
  enumFilter,
  idFilter,
  numberFilter,
  tagsFilter,
  textFilter,
  timeFilter,
  vendorFilter,
} from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import {
  closed,
  listQuery,
  nullable,
  operation,
  page,
  typedText,
  utcTime,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { alertVerdictLabels, alertVerdicts, harmlessAtOnce } from '#features/alerts/contract/alert-cases.ts'
import { findingLabels } from './peripherals.ts'

/** How a finding ended: by the verdict of a person, or by the server. */
export const findingVerdicts = [...alertVerdicts, 'accepted', 'withdrawn'] as const
export type FindingVerdict = (typeof findingVerdicts)[number]
export const findingVerdictLabels: Readonly<Record<FindingVerdict, string>> = {
  ...alertVerdictLabels,
  accepted: 'Accepted finding',
  withdrawn: 'No longer in the knowledge',
}

const tag = 'Findings'
const base = '/prime/webui/findings'
/** Maximum number of findings that one request can close or reopen. */
export const findingsAtOnce = 500
/** Maximum number of alerts whose findings one request can list. */
export const alertsAtOnce = 100

/** A finding about a device of a host. */
export const HostFinding = closed({
  id: Type.Integer({ 'x-label': 'Finding ID', minimum: 1 }),
  uuid: Type.String({ 'x-label': 'Host ID', description: 'UUID of the host.' }),
  hostIdentifier: Type.String({ 'x-label': 'Host', description: 'Name of the host.' }),
  deviceID: Type.String({ 'x-label': 'Device ID', description: 'Device ID on this host.' }),
  severity: Type.Integer({
    'x-label': 'Finding',
    'x-labels': findingLabels,
    description: '30 vulnerable, 40 suspected attack tool, 50 confirmed attack tool: the highest while it was open.',
  }),
  finding: Type.String({
    'x-label': 'Evidence',
    description: 'Name of the attack tool, and advisories, by the knowledge in force.',
  }),
  vid: Type.String({
    'x-label': 'Vendor ID',
    'x-form': 'hex',
    description: 'Vendor ID (VID), four upper-case hex digits.',
  }),
  pid: Type.String({
    'x-label': 'Product ID',
    'x-form': 'hex',
    description: 'Product ID (PID), four upper-case hex digits.',
  }),
  guiVid: Type.String({ 'x-label': 'Vendor', description: 'Vendor name.' }),
  guiPid: Type.String({ 'x-label': 'Product', description: 'Product name.' }),
  serialNumber: Type.String({ 'x-label': 'Serial number', description: 'Empty if the device has none.' }),
  state: Type.Enum(['Open', 'Closed'], {
    'x-label': 'State',
    description: '`Open` until a person closes the finding, even after the device was removed.',
  }),
  attached: Type.Boolean({ 'x-label': 'Attached', description: 'True if the device is attached.' }),
  openedAt: utcTime('Time of the report that opened the finding.', { 'x-label': 'Opened' }),
  lastAttached: utcTime('Time of the report that attached the device last.', { 'x-label': 'Last attached' }),
  detachedAt: nullable(utcTime('Time of the report that removed the device.'), {
    'x-label': 'Removed',
    description: '`null` while the device is attached.',
  }),
  attachments: Type.Integer({
    'x-label': 'Attachments',
    minimum: 1,
    description: 'Number of attachments since the finding was opened.',
  }),
  verdict: nullable(Type.Enum([...findingVerdicts]), {
    'x-label': 'Verdict',
    'x-labels': findingVerdictLabels,
    description:
      '`true`, `benign`, `false` and `test` are verdicts of a person. `accepted`: a person accepted the finding for all hosts. `withdrawn`: newer knowledge has no finding about the device. `null` if the finding is open.',
  }),
  comment: Type.String({ 'x-label': 'Comment', description: 'Comment of the verdict.' }),
  closedAt: nullable(utcTime('Time of the verdict.'), { 'x-label': 'Closed', description: '`null` if it is open.' }),
  closedBy: Type.String({
    'x-label': 'Closed by',
    description: 'Account that closed it. Empty: open, or the server closed it.',
  }),
  hashtags: Type.String({ 'x-label': 'Tags', 'x-form': 'tags', description: 'Tags of the host, separated by commas.' }),
})
export type HostFinding = Static<typeof HostFinding>

export const hostFindingFilters = {
  state: enumFilter('state', ['Open', 'Closed']),
  severity: numberFilter('severity', { values: ['50', '40', '30'] }),
  verdict: enumFilter('verdict', findingVerdicts),
  attached: booleanFilter('attached'),
  hostIdentifier: textFilter('hostIdentifier', { label: 'Host name' }),
  hostUuid: idFilter('UUID of the host.', 128, { of: 'uuid', label: 'Host', choices: 'host' }),
  alert: idFilter(
    'IDs of alerts, separated by commas: lists the findings that these alerts are about.',
    alertsAtOnce * 11,
    {
      label: 'Findings of alert',
      choices: 'alert',
      accepts: { form: '^\\d{1,10}(,\\d{1,10})*$', hint: 'Enter the number of an alert.' },
    },
  ),
  vendor: vendorFilter('Vendor', { of: 'guiVid' }),
  productInfo: textFilter('guiPid'),
  vid: textFilter('vid'),
  pid: textFilter('pid'),
  serialNumber: textFilter('serialNumber'),
  closedBy: textFilter('closedBy'),
  openedAt: timeFilter('openedAt'),
  lastAttached: timeFilter('lastAttached'),
  closedAt: timeFilter('closedAt'),
  hashtags: tagsFilter('hashtags', { label: 'Tag' }),
}

/** The list of findings about devices of hosts. */
export const hostFindingList = list({
  title: 'Findings',
  row: HostFinding,
  filters: hostFindingFilters,
  unsorted: ['hashtags'],
  file: {
    pdf: [
      'hostIdentifier',
      'severity',
      'guiPid',
      'serialNumber',
      'state',
      'attached',
      'openedAt',
      'lastAttached',
      'verdict',
      'closedBy',
      'comment',
    ],
    summary: ['severity', 'state', 'verdict'],
    time: 'openedAt',
    permission: 'export:read',
  },
  table: {
    defaultSort: 'state_desc',
    filters: [
      'state',
      'severity',
      'attached',
      'verdict',
      'hostIdentifier',
      'hostUuid',
      'alert',
      'vendor',
      'productInfo',
      'vid',
      'pid',
      'serialNumber',
      'hashtags',
      'openedAt',
      'lastAttached',
      'closedAt',
      'closedBy',
    ],
    columns: [
      { id: 'finding', of: 'severity', width: 216, shown: true, first: 'desc', exports: ['severity', 'finding'] },
      { id: 'host', of: 'hostIdentifier', width: 150, grow: true, shown: true, hasLink: true },
      {
        id: 'device',
        of: 'guiPid',
        width: 220,
        grow: true,
        shown: true,
        title: 'Device',
        exports: ['guiVid', 'guiPid'],
      },
      { id: 'serial', of: 'serialNumber', width: 168, shown: true },
      { id: 'attached', width: 150, shown: true, exports: ['attached', 'detachedAt'] },
      { id: 'opened', of: 'openedAt', width: 96, shown: true },
      { id: 'last', of: 'lastAttached', width: 168, shown: true },
      { id: 'verdict', width: 150, shown: true, title: 'State', exports: ['state', 'verdict'] },
      { id: 'by', of: 'closedBy', width: 110 },
      { id: 'closed', of: 'closedAt', width: 96 },
      { id: 'comment', width: 220, grow: true },
      { id: 'count', of: 'attachments', width: 108 },
      { id: 'vendor', of: 'guiVid', width: 160 },
      { id: 'ids', of: 'vid', width: 96, title: 'VID:PID', exports: ['vid', 'pid'] },
      { id: 'tags', of: 'hashtags', width: 140, sort: null },
    ],
  },
})

const ids = Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
  minItems: 1,
  maxItems: findingsAtOnce,
  uniqueItems: true,
  description: 'IDs of findings.',
})

export const listFindings = operation({
  id: 'listFindings',
  method: 'GET',
  path: base,
  tag,
  summary: 'Lists findings about devices of hosts',
  description:
    'The server opens a finding when an attack tool or a vulnerable device is attached to a host. The finding stays open after the device was removed, until a person closes it. The default order is: open findings first, then the highest `severity`, then the newest `lastAttached`.',
  permission: 'fleet:read',
  query: closed({ ...hostFindingFilters, ...listQuery }),
  response: page(HostFinding),
  responseKind: 'list',
})

export const closeFindings = operation({
  id: 'closeFindings',
  method: 'POST',
  path: `${base}/close`,
  tag,
  summary: 'Closes findings with a verdict',
  description: `Closes all of them or none. A closed finding no longer affects the severity and the risk of its host. The verdict changes no decision about the device. After \`true\` or \`test\`, the next attachment opens a new finding, so these verdicts need a removed device. After \`benign\` or \`false\`, the same device opens no new finding on this host, unless the finding about it becomes worse. More than ${harmlessAtOnce} findings can be closed with these verdicts only with fresh authentication.`,
  permission: 'fleet:write',
  fresh: `it closes more than ${harmlessAtOnce} findings as \`benign\` or \`false\``,
  errors: ['not_found', 'conflict'],
  body: closed({
    ids,
    verdict: Type.Enum([...alertVerdicts], {
      description:
        '`true`: the finding was right, and it was handled. `benign`: the device is known and harmless here. `false`: the finding is wrong. `test`: somebody tested the detection.',
    }),
    comment: Type.Optional(typedText({ maxLength: 4_000, description: 'Comment for the next person.' }, 'lines')),
  }),
  response: closed({ closed: Type.Integer({ minimum: 1, description: 'Number of closed findings.' }) }),
  examples: { request: { ids: [17], verdict: 'true', comment: 'Handed over to forensics.' } },
})

export const reopenFindings = operation({
  id: 'reopenFindings',
  method: 'POST',
  path: `${base}/reopen`,
  tag,
  summary: 'Reopens closed findings',
  description:
    'Reopens all of them or none, for example to undo a verdict. Only the latest finding about a device can be reopened.',
  permission: 'fleet:write',
  errors: ['not_found', 'conflict'],
  body: closed({ ids }),
  response: closed({ reopened: Type.Integer({ minimum: 1, description: 'Number of reopened findings.' }) }),
  examples: { request: { ids: [17] } },
})
