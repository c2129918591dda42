import type { ErrorCode } from '@portcullis/platform/contract/errors.ts'
import { closed, listQuery, nullable, operation, page, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { PackageArchitecture } from '#features/builds/contract/packages.ts'
import { RevertMinutes } from '#features/commands/contract/arming.ts'
import { Prediction } from '#features/policy/contract/prediction.ts'

/** Kinds of rollouts. */
export const rolloutKinds = ['update', 'arm'] as const
export type RolloutKind = (typeof rolloutKinds)[number]

/** States of a rollout. The last three are final. */
export const rolloutStates = ['running', 'paused', 'halted', 'completed', 'reverted', 'cancelled'] as const
export type RolloutState = (typeof rolloutStates)[number]

/** States of a host in a started ring. */
export const rolloutHostStates = [
  'waiting',
  'offline',
  'notReady',
  'unchanged',
  'commanded',
  'done',
  'failed',
  'skipped',
  'reverting',
  'reverted',
] as const
export type RolloutHostState = (typeof rolloutHostStates)[number]

const ringName = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
  description: 'Display name.',
})

/** A ring: hosts that are processed together. Each host belongs to the first ring that matches it. */
export const RolloutRing = closed({
  name: ringName,
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 50,
      description: 'Tags. The ring contains hosts with any of them. Send either `tags` or `sharePercent`.',
    }),
  ),
  sharePercent: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Share of the hosts that are in no earlier ring, in percent. 100: all remaining hosts.',
    }),
  ),
})
export type RolloutRing = Static<typeof RolloutRing>

export const RolloutInput = closed({
  kind: Type.Enum(rolloutKinds, {
    description: '`update`: installs the newest published build. `arm`: arms the hosts.',
  }),
  name: ringName,
  rings: Type.Array(RolloutRing, { minItems: 1, maxItems: 20, description: 'Rings, in order.' }),
  dwellMinutes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 43_200,
      default: 60,
      description: 'Minutes between the end of the last reachable host in a ring and the start of the next ring.',
    }),
  ),
  failurePercent: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 5,
      description: 'Percentage of hosts in a ring that may fail. Above it, the rollout halts.',
    }),
  ),
  blocksOverPercent: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 5,
      description:
        'Percentage of hosts in a ring that may block more devices than predicted. Above it, the rollout halts.',
    }),
  ),
  catchUpHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 8_760,
      default: 168,
      description: 'Hours after the last ring during which offline hosts can still reconnect and take part.',
    }),
  ),
  applyToPresent: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'True: when arming, also apply the policy to devices that are already attached.',
    }),
  ),
  revertMinutes: Type.Optional(RevertMinutes),
})
export type RolloutInput = Static<typeof RolloutInput>

/** States of a host before it gets a command. */
export const rolloutReadiness = ['ready', 'offline', 'notReady', 'unchanged'] as const

const build = closed({ architecture: PackageArchitecture, version: Type.String() })

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** A host in a rollout. */
export const RolloutHost = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  ring: count('Index of the ring, starting at 0.'),
  state: Type.Enum(rolloutHostStates),
  reason: Type.String({ description: 'Why the host is not ready, failed or was skipped. Otherwise empty.' }),
  enforcement: Type.String({
    description: 'How this host can enforce: before-driver, after-attach, before-install or observe.',
  }),
  lastContact: nullable(utcTime('Time of the last check-in.')),
  predictedBlocks: count('Predicted number of blocked devices on this host: attached, or seen in the last 30 days.'),
  actualBlocks: count('Number of devices that the host has blocked since.'),
})
export type RolloutHost = Static<typeof RolloutHost>

export const RolloutPlan = closed({
  kind: Type.Enum(rolloutKinds),
  builds: Type.Array(build, { description: 'Builds that an update installs. Empty for arming.' }),
  rings: Type.Array(
    closed({
      name: Type.String(),
      hosts: count('Number of hosts in the ring.'),
      ready: count('Number of hosts that can start at once.'),
      offline: count('Number of offline hosts. They start when they reconnect.'),
      notReady: count('Number of hosts that cannot take part.'),
      unchanged: count('Number of hosts that are already in the requested state.'),
      predictedBlocks: count('Predicted number of blocked devices on these hosts.'),
      mismatched: closed(
        {
          hosts: count('Number of hosts that will hold a port.'),
          devices: count('Number of attached devices with a kernel driver that is not allowed for their kind.'),
        },
        { description: 'When arming: hosts in the ring that will hold ports. Zero for an update.' },
      ),
      reasons: Type.Array(closed({ reason: Type.String(), hosts: Type.Integer() }), {
        description: 'Reasons why hosts are not ready.',
      }),
    }),
  ),
  outside: count('Number of hosts that are in no ring.'),
  prediction: nullable(Prediction, { description: 'Prediction for the hosts to arm. `null` for an update.' }),
  hosts: Type.Array(RolloutHost, {
    description:
      'The first 200 hosts: hosts that are not ready, then the hosts with the most predicted blocks. `waiting` means ready.',
  }),
})
export type RolloutPlan = Static<typeof RolloutPlan>

export const rolloutRingStates = ['waiting', 'running', 'dwelling', 'done'] as const

export const Rollout = closed({
  id: Type.String(),
  kind: Type.Enum(rolloutKinds),
  name: Type.String(),
  state: Type.Enum(rolloutStates),
  reason: Type.String({ description: 'Why the rollout halted or ended. Empty while it runs.' }),
  builds: Type.Array(build),
  dwellMinutes: Type.Integer(),
  failurePercent: Type.Integer(),
  blocksOverPercent: Type.Integer(),
  catchUpHours: Type.Integer(),
  applyToPresent: Type.Boolean(),
  revertMinutes: nullable(Type.Integer(), {
    description:
      'When arming: the `revertMinutes` that the request set. `null`: none, so the default applies to each step.',
  }),
  createdAt: utcTime('Start of the rollout.'),
  createdBy: Type.String(),
  endedAt: nullable(utcTime('Time at which the rollout reached a final state.')),
  rings: Type.Array(
    closed({
      name: Type.String(),
      tags: Type.Array(Type.String()),
      sharePercent: nullable(Type.Integer()),
      state: Type.Enum(rolloutRingStates),
      startedAt: nullable(utcTime('Start of the ring. Its hosts are fixed from then on.')),
      dwellUntil: nullable(utcTime('Earliest start of the next ring.')),
      hosts: closed(
        Object.fromEntries(
          rolloutHostStates.map((state) => [state, count(`Number of hosts in the state \`${state}\`.`)]),
        ) as Record<RolloutHostState, ReturnType<typeof count>>,
        { description: 'Number of hosts by state. All are 0 before the ring starts.' },
      ),
      predictedBlocks: count('Predicted number of blocked devices on hosts that got a command.'),
      actualBlocks: count('Number of blocked devices on hosts that got a command.'),
      overPrediction: count('Number of hosts that blocked more devices than predicted.'),
    }),
  ),
})
export type Rollout = Static<typeof Rollout>

const base = '/prime/webui/rollouts'
const params = closed({ id: Type.String({ minLength: 1, maxLength: 64 }) })
const reading = { tag: 'Rollouts', permission: 'fleet:read' } as const
const writing = { tag: 'Rollouts', permission: 'fleet:write', method: 'POST' } as const

export const listRollouts = operation({
  ...reading,
  id: 'listRollouts',
  method: 'GET',
  path: base,
  summary: 'Lists rollouts, newest first',
  response: closed({ data: Type.Array(Rollout, { description: 'At most 100 rollouts.' }) }),
})

export const getRollout = operation({
  ...reading,
  id: 'getRollout',
  method: 'GET',
  path: `${base}/{id}`,
  summary: 'Returns a rollout with the progress of its rings',
  params,
  response: Rollout,
})

export const listRolloutHosts = operation({
  ...reading,
  id: 'listRolloutHosts',
  method: 'GET',
  path: `${base}/{id}/hosts`,
  summary: 'Lists the hosts of started rings, sorted by ring and name',
  params,
  query: closed({
    ring: Type.Optional(Type.Integer({ minimum: 0, maximum: 19, description: 'Index of a ring, starting at 0.' })),
    state: Type.Optional(Type.Enum(rolloutHostStates, { description: 'State of the hosts.' })),
    PageNumber: listQuery.PageNumber,
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 50 })),
  }),
  response: page(RolloutHost),
})

const inputExample = {
  kind: 'arm',
  name: 'Kiosks first',
  rings: [
    { name: 'canary', tags: ['canary'] },
    { name: 'a tenth', sharePercent: 10 },
    { name: 'all others', sharePercent: 100 },
  ],
  dwellMinutes: 120,
}

export const planRollout = operation({
  ...writing,
  id: 'planRollout',
  path: `${base}/plan`,
  summary: 'Previews a rollout',
  heavy: 'preview',
  body: RolloutInput,
  response: RolloutPlan,
  errors: ['conflict'],
  examples: { request: inputExample },
})

export const startRollout = operation({
  ...writing,
  id: 'startRollout',
  path: `${base}/start`,
  summary: 'Starts a rollout with its first ring',
  fresh: true,
  description:
    'Only one rollout of each kind can run at a time. The hosts of a ring are fixed when the ring starts. The rollout halts automatically if a ring exceeds a limit. Offline hosts take part when they reconnect.',
  body: RolloutInput,
  response: Rollout,
  errors: ['conflict', 'second_person_required'],
  examples: { request: inputExample },
})

const control = (
  action: string,
  summary: string,
  description?: string,
  { errors = [], fresh }: { errors?: readonly ErrorCode[]; fresh?: true | string } = {},
) =>
  operation({
    ...writing,
    id: `${action}Rollout`,
    path: `${base}/{id}/${action}`,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(fresh === undefined ? {} : { fresh }),
    params,
    response: Rollout,
    errors: ['conflict', ...errors],
  })

export const pauseRollout = control('pause', 'Pauses a rollout', 'No further hosts start.')
export const resumeRollout = control(
  'resume',
  'Resumes a paused or halted rollout',
  'Resuming after a halt accepts the failures so far. The limits then count from zero.',
  { fresh: true },
)
export const haltRollout = control('halt', 'Halts a rollout', 'Unfinished commands are cancelled.')
export const revertRollout = operation({
  ...control(
    'revert',
    'Reverts an arming rollout and frees the hosts that it armed',
    'Hosts that were armed before the rollout stay armed. Above the limit in the policy settings, a second approver is required. An update cannot be reverted: a host returns to its previous build only if the new build fails.',
    { errors: ['second_person_required'], fresh: 'it frees more hosts than one person may free alone' },
  ),
  body: nullable(
    closed({
      reason: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Reason. It is stored with the rollout and shown to the second approver.',
        }),
      ),
    }),
  ),
  bodyOptional: true,
})
export const cancelRollout = control('cancel', 'Cancels a rollout', 'Completed hosts are not changed back.')
