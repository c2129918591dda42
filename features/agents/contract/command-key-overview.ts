import { closed, operation } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

export const CommandKeyOverview = closed({
  keys: Type.Array(
    closed({
      number: Type.Integer({
        minimum: 0,
        description: 'Number of rotations up to this key. The original key has number 0.',
      }),
      fingerprint: Type.String({ description: 'SHA-256 (hex) of the public key.' }),
      createdAt: Type.String({
        format: 'date-time',
        description: 'Time at which the key was created. Always 1970-01-01 for key 0.',
      }),
      state: Type.Enum(['In force', 'Retiring', 'Retired'], {
        description: '`Retiring`: the key still signs for the hosts that hold it. `Retired`: the key signs nothing.',
      }),
      retiresAt: Type.Union([Type.Null(), Type.String({ format: 'date-time' })]),
      hosts: Type.Integer({ minimum: 0, description: 'Number of hosts that hold this key.' }),
      hostsThatDoNotFollow: Type.Integer({
        minimum: 0,
        description:
          'Number of these hosts whose agent has never reported that it supports rotations. Update these agents before the key retires.',
      }),
    }),
    { description: 'Oldest first. The last key is in force.' },
  ),
  hostsWithUnknownKey: Type.Integer({
    minimum: 0,
    description: 'Number of hosts with a key that this server does not have because its key file is out of date.',
  }),
})
export type CommandKeyOverview = Static<typeof CommandKeyOverview>

/** Lists the command keys. Only the command line of the server can rotate the key. */
export const getCommandKeys = operation({
  id: 'getCommandKeys',
  method: 'GET',
  path: '/prime/webui/agents/commandkeys',
  tag: 'Agents',
  summary: 'Lists the command keys and the number of hosts that hold each',
  permission: 'config:read',
  response: CommandKeyOverview,
})
