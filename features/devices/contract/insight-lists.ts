/** The insights as files. Their rows name hosts and evidence as text. */
import { list } from '@portcullis/platform/contract/list.ts'
import { closed } from '@portcullis/platform/contract/operation.ts'
import { Type } from 'typebox'
import {
  AgentErrors,
  SpoofedIdentity,
  UncommonPeripheral,
  VulnerablePeripheral,
  WhitelistViolation,
} from './insights.ts'

const joined = (label: string, description: string) => Type.String({ 'x-label': label, description })
const hosts = joined('Host names', 'Names of at most 20 hosts, separated by `; `.')
const permission = 'export:read'

const { agents: _uncommonAgents, devIcon: _uncommonIcon, ...uncommon } = UncommonPeripheral.properties
const {
  agents: _vulnerableAgents,
  devIcon: _vulnerableIcon,
  vulnerabilities: _ids,
  ...vulnerable
} = VulnerablePeripheral.properties
const {
  agents: _spoofedAgents,
  devIcon: _spoofedIcon,
  diff: _diff,
  consensus: _consensus,
  evidence: _evidence,
  ...spoofed
} = SpoofedIdentity.properties
const { devIcon: _violationIcon, ...violation } = WhitelistViolation.properties

export const uncommonList = list({
  title: 'Uncommon devices',
  row: closed({ ...uncommon, hosts }),
  filters: {},
  file: {
    pdf: [
      'guiVid',
      'guiPid',
      'vid',
      'pid',
      'devIconDescription',
      'agentsCount',
      'share',
      'isKnownAttackTool',
      'lastSeen',
      'hosts',
    ],
    isFixedOrder: true,
    permission,
  },
})

export const vulnerableList = list({
  title: 'Vulnerable devices',
  row: closed({ ...vulnerable, vulnerabilities: joined('Advisories', 'IDs, separated by `; `.'), hosts }),
  filters: {},
  file: {
    pdf: ['guiVid', 'guiPid', 'vid', 'pid', 'vulnerabilities', 'agentsCount', 'peripheralsCount', 'lastSeen', 'hosts'],
    summary: ['severity'],
    isFixedOrder: true,
    permission,
  },
})

export const spoofedList = list({
  title: 'Spoofed identities',
  row: closed({ ...spoofed, evidence: joined('Evidence', 'Differences, separated by `; `.'), hosts }),
  filters: {},
  file: {
    pdf: ['level', 'guiVid', 'guiPid', 'vid', 'pid', 'evidence', 'agentsCount', 'lastSeen', 'hosts'],
    summary: ['level'],
    isFixedOrder: true,
    permission,
  },
})

export const violationList = list({
  title: 'Devices not on the allowlist',
  row: closed(violation),
  filters: {},
  unsorted: [
    'vid',
    'pid',
    'serialNumber',
    'guiVid',
    'guiPid',
    'devIconDescription',
    'peripheralsCount',
    'firstSeen',
    'lastSeen',
  ],
  file: {
    pdf: [
      'guiVid',
      'guiPid',
      'vid',
      'pid',
      'serialNumber',
      'devIconDescription',
      'agentsCount',
      'enforced',
      'isKnownAttackTool',
      'lastSeen',
    ],
    time: 'lastSeen',
    isFixedOrder: true,
    permission,
  },
})

export const agentErrorList = list({
  title: 'Agent errors',
  row: AgentErrors,
  filters: {},
  file: {
    pdf: ['hostIdentifier', 'localIpAddress', 'errorsCount', 'lastErrorTime', 'lastError'],
    time: 'lastErrorTime',
    isFixedOrder: true,
    permission,
  },
})
