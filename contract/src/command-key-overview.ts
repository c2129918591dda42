import { type Static, Type } from 'typebox'
import { closed, operation } from './operation.ts'

export const CommandKeyOverview = closed({
  keys: Type.Array(
    closed({
      number: Type.Integer({ minimum: 0, description: 'Counts rotations; the key of the first start is number 0.' }),
      fingerprint: Type.String({ description: 'SHA-256 (hex) of the public key.' }),
      createdAt: Type.String({ format: 'date-time', description: 'The beginning of 1970 for key 0.' }),
      state: Type.Enum(['In force', 'Retiring', 'Retired'], {
        description: 'A retiring key still signs for hosts that hold it; a retired one signs nothing.',
      }),
      retiresAt: Type.Union([Type.Null(), Type.String({ format: 'date-time' })]),
      hosts: Type.Integer({ minimum: 0, description: 'Hosts that hold this key.' }),
      hostsThatDoNotFollow: Type.Integer({
        minimum: 0,
        description:
          'Of those, hosts whose agent has not said that it follows rotations. Update these agents before the key retires.',
      }),
    }),
    { description: 'Oldest first; the last one is in force.' },
  ),
  hostsWithUnknownKey: Type.Integer({
    minimum: 0,
    description: 'Hosts that hold a key this server does not have: its key file is older than the one they followed.',
  }),
})
export type CommandKeyOverview = Static<typeof CommandKeyOverview>

/** Rotation itself has no operation: it needs the machine of the server. */
export const getCommandKeys = operation({
  id: 'getCommandKeys',
  method: 'GET',
  path: '/prime/webui/agents/commandkeys',
  tag: 'Agents',
  summary: 'The public keys that sign commands to hosts, and how many hosts hold each',
  permission: 'config:read',
  response: CommandKeyOverview,
})
