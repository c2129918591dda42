/** The lists of devices and models. */
import { list } from '@portcullis/platform/contract/list.ts'
import { closed } from '@portcullis/platform/contract/operation.ts'
import { Type } from 'typebox'
import { modelFilters, Peripheral, PeripheralModel, peripheralFilters } from './peripherals.ts'

const {
  acceptance: _acceptance,
  evidence: _evidence,
  vulnerabilities: _vulnerabilities,
  riskFactors: _riskFactors,
  ...flat
} = Peripheral.properties

/** A device in a file: without arrays of objects and of sentences. `vulnerability` contains their text. */
const PeripheralFileRow = closed(flat)

const peripheralFile = {
  pdf: [
    'hostIdentifier',
    'description',
    'guiVid',
    'serialNumber',
    'devIconDescription',
    'status',
    'policyState',
    'severity',
    'lastSeen',
  ],
  summary: ['severity', 'status'],
  time: 'lastSeen',
  permission: 'export:read',
} as const

export const peripheralList = list({
  title: 'Devices',
  row: Peripheral,
  filters: peripheralFilters,
  unsorted: ['acceptance', 'evidence', 'missingEvidence', 'vulnerabilities', 'riskFactors'],
  table: {
    defaultSort: 'severity_desc',
    filters: [
      'devIcon',
      'present',
      'isKnownAttackTool',
      'isVulnerablePeripheral',
      'isUnapprovedPeripheral',
      'vendor',
      'productInfo',
      'vid',
      'pid',
      'serialNumber',
      'hostIdentifier',
      'ipAddress',
      'hashtags',
      'firstSeen',
    ],
    columns: [
      { id: 'device', of: 'caption', width: 235, grow: true, shown: true },
      {
        id: 'findings',
        of: 'severity',
        width: 216,
        shown: true,
        title: 'Findings',
        first: 'desc',
        exports: ['severity', 'vulnerability'],
      },
      {
        id: 'decision',
        of: 'policyState',
        width: 216,
        shown: true,
        title: 'Decision',
        sort: null,
        exports: ['policyState', 'decisionReason'],
      },
      { id: 'vendor', of: 'guiVid', width: 170, grow: true, shown: true },
      { id: 'ids', of: 'vid', width: 92, shown: true, title: 'VID:PID', exports: ['vid', 'pid'] },
      { id: 'host', of: 'hostIdentifier', width: 160, grow: true, shown: true, hasLink: true },
      { id: 'state', of: 'status', width: 104, shown: true, title: 'State', sort: 'present', first: 'desc' },
      { id: 'serial', of: 'serialNumber', width: 150, shown: true },
      { id: 'seen', of: 'lastSeen', width: 108, shown: true },
      { id: 'first', of: 'firstSeen', width: 108 },
      { id: 'kind', of: 'devIconDescription', width: 110 },
      { id: 'product', of: 'guiPid', width: 180, title: 'Product (usb.ids)' },
      { id: 'maker', of: 'manufacturer', width: 150 },
      { id: 'revision', of: 'bcdDevice', width: 84, show: 'code' },
      { id: 'port', of: 'hierarchy', width: 84 },
      { id: 'address', of: 'hostIp', width: 124 },
      { id: 'interfaces', width: 200, show: 'code' },
      { id: 'tags', of: 'hashtags', width: 140 },
    ],
  },
})

export const peripheralFileList = list({
  title: peripheralList.title,
  row: PeripheralFileRow,
  filters: peripheralFilters,
  file: peripheralFile,
})

const { isKnownAttackTool: _isKnownAttackTool, ...attackToolFilters } = peripheralFilters

export const attackToolList = list({
  title: 'Attack tools',
  row: PeripheralFileRow,
  filters: attackToolFilters,
  file: {
    ...peripheralFile,
    pdf: ['hostIdentifier', 'description', 'guiVid', 'serialNumber', 'attackTool', 'status', 'policyState', 'lastSeen'],
  },
})

export const modelList = list({
  title: 'Devices by model',
  row: PeripheralModel,
  filters: modelFilters,
  table: {
    defaultSort: 'severity_desc',
    filters: ['devIcon', 'isKnownAttackTool', 'isVulnerablePeripheral', 'vendor', 'productInfo', 'vid', 'pid'],
    columns: [
      { id: 'product', of: 'guiPid', width: 190, grow: true, shown: true, hasLink: true },
      { id: 'vendor', of: 'guiVid', width: 140, grow: true, shown: true },
      { id: 'ids', of: 'vid', width: 96, shown: true, title: 'VID:PID', exports: ['vid', 'pid'] },
      { id: 'kind', of: 'devIconDescription', width: 116, shown: true, sort: 'devIcon' },
      {
        id: 'findings',
        of: 'severity',
        width: 216,
        shown: true,
        title: 'Findings',
        first: 'desc',
        exports: ['isKnownAttackTool', 'isVulnerablePeripheral'],
      },
      { id: 'hosts', of: 'agentsCount', width: 72, shown: true, hasLink: true },
      { id: 'devices', of: 'peripheralsCount', width: 84, shown: true },
      { id: 'first', of: 'firstSeen', width: 108, shown: true },
      { id: 'last', of: 'lastSeen', width: 108, shown: true },
    ],
  },
})

const { vid, pid, guiVid, guiPid, devIcon, devIconDescription, agentsCount, peripheralsCount, ...findings } =
  PeripheralModel.properties

/** Models in a file: the keys of the list, in its order, and the number of approved devices. */
export const modelFileList = list({
  title: modelList.title,
  row: closed({
    ...{ vid, pid, guiVid, guiPid, devIcon, devIconDescription, agentsCount, peripheralsCount },
    approvedCount: Type.Integer({
      'x-label': 'Approved',
      description: 'Number of attached devices that are approved.',
    }),
    ...findings,
  }),
  filters: modelFilters,
  unsorted: ['approvedCount'],
  file: {
    pdf: [
      'guiVid',
      'guiPid',
      'vid',
      'pid',
      'devIconDescription',
      'agentsCount',
      'peripheralsCount',
      'approvedCount',
      'isVulnerablePeripheral',
      'isKnownAttackTool',
      'firstSeen',
      'lastSeen',
    ],
    summary: ['severity'],
    time: 'lastSeen',
    permission: 'export:read',
  },
})
