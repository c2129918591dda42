import { booleanFilter, tagsFilter, textFilter, vendorFilter } from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import { closed, listQuery, nullable, operation, page, utcTime } from '@portcullis/platform/contract/operation.ts'
import { Type } from 'typebox'

/** Devices that are counted at most, unless more wait, because some models are on most hosts of a fleet. */
export const allowedMost = 1_000

/** A model with devices that wait for an approval. */
const ApprovalModel = closed({
  vid: Type.String(),
  pid: Type.String(),
  guiVid: Type.String(),
  guiPid: Type.String(),
  devIcon: Type.Integer(),
  devIconDescription: Type.String(),
  isKnownAttackTool: Type.Boolean(),
  isVulnerablePeripheral: Type.Boolean(),
  agentsCount: Type.Integer(),
  peripheralsCount: Type.Integer(),
  blockedCount: Type.Integer({
    description:
      'Number of these devices that are attached and blocked. The others were attached when the host was armed and still work, or are detached.',
  }),
  allowedHosts: Type.Integer({
    minimum: 0,
    description: `Number of hosts on which a device of this model is allowed. Counts at most ${allowedMost.toLocaleString('en')} devices, or twice as many as wait.`,
  }),
  suggestion: nullable(
    closed({
      scope: Type.Enum(['host', 'tag', 'all'], {
        description:
          '`all`: the model is already allowed on more than 20 hosts, and on more hosts than these. `tag`: all these hosts have this tag. Otherwise `host`.',
      }),
      tag: Type.String({
        description: 'Tag of all these hosts, and of at most as many others. Empty for other scopes.',
      }),
    }),
    { description: 'The scope that fits an approval of all these devices. `null` for attack tools.' },
  ),
  firstSeen: utcTime('First attachment on any of these hosts.'),
  lastSeen: utcTime('Last attachment on any of these hosts.'),
  devices: Type.Array(
    closed({
      uuid: Type.String(),
      hostIdentifier: Type.String(),
      owner: Type.String({ description: 'Person or team that the host belongs to. Empty if unknown.' }),
      risk: Type.Integer({ minimum: 0, maximum: 100, description: 'Risk of the host.' }),
      deviceID: Type.String(),
      serialNumber: Type.String(),
      present: Type.Boolean(),
      isBlocked: Type.Boolean({ description: 'True if the device is attached and the kernel blocks it.' }),
      caseNumber: Type.String(),
      hashtags: Type.String({ description: 'Tags of the host.' }),
      lastSeen: utcTime('Time of the last attachment or, for a detached device, of its removal.'),
    }),
    { description: 'At most `DevicesPerModel` devices: blocked devices first, then the newest.' },
  ),
})

export const approvalList = list({
  title: 'Device approvals',
  row: ApprovalModel,
  filters: {
    vendor: vendorFilter('Vendor'),
    vid: textFilter('vid', { label: 'Vendor ID', suggests: 'vid' }),
    pid: textFilter('pid', { label: 'Product ID', suggests: 'pid' }),
    hostIdentifier: textFilter('hostIdentifier', { label: 'Host name' }),
    hashtags: tagsFilter('tags of the host', { label: 'Host tag' }),
    isKnownAttackTool: booleanFilter('isKnownAttackTool', { label: 'Attack tool' }),
  },
  table: {
    defaultSort: '',
    filters: ['isKnownAttackTool', 'vendor', 'vid', 'pid', 'hostIdentifier', 'hashtags'],
    columns: [],
  },
})

export const policyApprovals = operation({
  id: 'policyApprovals',
  method: 'GET',
  path: '/prime/webui/policy/approvals',
  tag: 'Policy',
  summary: 'Lists devices that wait for approval, by model',
  description:
    'Lists devices on armed hosts that match no rule and are attached or were seen in the last seven days. Attack tools come first, then models with a blocked device, then the models on the most hosts.',
  permission: 'fleet:read',
  query: closed({
    GlobalSearch: listQuery.GlobalSearch,
    Query: listQuery.Query,
    ...approvalList.filters,
    DevicesPerModel: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        default: 20,
        description: 'Maximum number of devices listed per model.',
      }),
    ),
    PageNumber: listQuery.PageNumber,
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 50 })),
  }),
  response: page(ApprovalModel),
})
