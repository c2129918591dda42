import { apiPrefix, closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'

const hosts = (description: string) => Type.Integer({ minimum: 0, description })

export const FleetDay = closed({
  day: Type.String({ format: 'date', description: 'Day (UTC).' }),
  recordedAt: utcTime(
    'Time at which the server recorded these numbers. For a past day, it is within 5 minutes of its end.',
  ),
  hosts: hosts('All hosts.'),
  connected: hosts('Connected hosts.'),
  protected: hosts('Armed hosts that can block devices.'),
  possible: hosts('Free hosts that can block devices once they are armed.'),
  impossible: hosts('Hosts that cannot block devices.'),
  attackTools: hosts('Hosts with attack tools.'),
  vulnerable: hosts('Hosts with vulnerable devices.'),
  unapproved: hosts('Hosts with devices that are not on the allowlist.'),
  openFindings: nullable(Type.Integer({ minimum: 0, description: 'Number of open findings.' }), {
    description: 'Null: the release that recorded the day did not count findings.',
  }),
})
export type FleetDay = Static<typeof FleetDay>

export const getTrends = operation({
  id: 'getTrends',
  method: 'GET',
  path: `${apiPrefix}/trends`,
  tag: 'Agents',
  summary: 'Returns the numbers of the fleet by day, oldest first',
  description:
    'The numbers are those of `GET /prime/webui/agents/AgentsClassificationSummary` at the end of each day (UTC), and the current ones for today. A day on which no server ran is missing.',
  permission: 'fleet:read',
  query: closed({
    days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 366,
        default: 30,
        description: 'Number of days, up to and including today.',
      }),
    ),
  }),
  response: closed({
    data: Type.Array(FleetDay, { maxItems: 366 }),
    newModels: Type.Array(
      closed({
        day: Type.String({ format: 'date', description: 'Day (UTC).' }),
        count: Type.Integer({ minimum: 1, description: 'Models of devices that the fleet first saw on this day.' }),
      }),
      { maxItems: 366, description: 'Days with new models, oldest first.' },
    ),
  }),
  examples: {
    response: {
      data: [
        {
          day: '2031-05-04',
          recordedAt: '2031-05-04T23:58:12.120Z',
          hosts: 301,
          connected: 296,
          protected: 15,
          possible: 37,
          impossible: 249,
          attackTools: 2,
          vulnerable: 14,
          unapproved: 88,
          openFindings: 17,
        },
      ],
      newModels: [{ day: '2031-05-04', count: 3 }],
    },
  },
})
