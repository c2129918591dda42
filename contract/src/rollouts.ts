import { type Static, Type } from 'typebox'
import type { ErrorCode } from './errors.ts'
import { closed, listQuery, nullable, operation, page, utcTime } from './operation.ts'
import { packageArchitectures } from './packages.ts'
import { Prediction } from './prediction.ts'

/** What is brought to hosts in rings. */
export const rolloutKinds = ['update', 'arm'] as const
export type RolloutKind = (typeof rolloutKinds)[number]

/** Life of a rollout; the last three are final. */
export const rolloutStates = ['running', 'paused', 'halted', 'completed', 'reverted', 'cancelled'] as const
export type RolloutState = (typeof rolloutStates)[number]

/** How a host of a started ring stands. */
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
  pattern: '^[^\\p{Cc}]+$',
  description: 'Name, for people.',
})

/** Hosts that get it together. Each host belongs to the first ring that takes it. */
export const RolloutRing = closed({
  name: ringName,
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 50,
      description: 'Hosts with any of these tags. Either this or `sharePercent`.',
    }),
  ),
  sharePercent: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Share of the hosts no ring before took; 100 = all others.',
    }),
  ),
})
export type RolloutRing = Static<typeof RolloutRing>

export const RolloutInput = closed({
  kind: Type.Enum(rolloutKinds, { description: '`update`: the newest published build. `arm`: mode Armed.' }),
  name: ringName,
  rings: Type.Array(RolloutRing, { minItems: 1, maxItems: 20, description: 'In their order.' }),
  dwellMinutes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 43_200,
      default: 60,
      description: 'How long a ring is watched, from when its last reachable host ended, before the next one starts.',
    }),
  ),
  failurePercent: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 100, default: 5, description: 'Hosts of a ring that may fail; more halt it.' }),
  ),
  blocksOverPercent: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 5,
      description: 'Hosts of a ring that may block more devices than was predicted for them; more halt it.',
    }),
  ),
  catchUpHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 8_760,
      default: 168,
      description: 'How long hosts that were offline are caught up with after the last ring.',
    }),
  ),
  applyToPresent: Type.Optional(
    Type.Boolean({ default: false, description: 'Arming judges what is attached now, too.' }),
  ),
})
export type RolloutInput = Static<typeof RolloutInput>

/** What a host is before it is commanded. */
export const rolloutReadiness = ['ready', 'offline', 'notReady', 'unchanged'] as const

const build = closed({ architecture: Type.Enum(packageArchitectures), version: Type.String() })

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** A host as a rollout sees it. */
export const RolloutHost = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  ring: count('Place of its ring, from 0.'),
  state: Type.Enum(rolloutHostStates),
  reason: Type.String({ description: 'Why it is not ready, failed or was left out; empty otherwise.' }),
  enforcement: Type.String({ description: 'Grade: before-driver, after-attach or observe.' }),
  lastContact: nullable(utcTime('Last check-in.')),
  predictedBlocks: count('Devices the policy would block here: attached, or seen in the last 30 days.'),
  actualBlocks: count('Devices it blocked since.'),
})
export type RolloutHost = Static<typeof RolloutHost>

export const RolloutPlan = closed({
  kind: Type.Enum(rolloutKinds),
  builds: Type.Array(build, { description: 'What an update brings; empty for arming.' }),
  rings: Type.Array(
    closed({
      name: Type.String(),
      hosts: count('Hosts of the ring, as of now.'),
      ready: count('Hosts that would get it at once.'),
      offline: count('Hosts that get it when they are back.'),
      notReady: count('Hosts that cannot get it.'),
      unchanged: count('Hosts that are so already.'),
      predictedBlocks: count('Devices that would be blocked on them.'),
      mismatched: closed(
        {
          hosts: count('Hosts that would hold a port.'),
          devices: count('Present devices with a kernel driver that their kind may not have.'),
        },
        { description: 'Arming: ports that hosts of the ring would hold. Zero for an update.' },
      ),
      reasons: Type.Array(closed({ reason: Type.String(), hosts: Type.Integer() }), {
        description: 'Why hosts are not ready.',
      }),
    }),
  ),
  outside: count('Hosts that no ring takes.'),
  prediction: nullable(Prediction, { description: 'Of the hosts that would be armed; null for an update.' }),
  hosts: Type.Array(RolloutHost, {
    description: 'The first 200: those not ready, then those with most predicted blocks. `waiting` = ready.',
  }),
})
export type RolloutPlan = Static<typeof RolloutPlan>

export const rolloutRingStates = ['waiting', 'running', 'dwelling', 'done'] as const

export const Rollout = closed({
  id: Type.String(),
  kind: Type.Enum(rolloutKinds),
  name: Type.String(),
  state: Type.Enum(rolloutStates),
  reason: Type.String({ description: 'Why it halted or ended; empty while it runs.' }),
  builds: Type.Array(build),
  dwellMinutes: Type.Integer(),
  failurePercent: Type.Integer(),
  blocksOverPercent: Type.Integer(),
  catchUpHours: Type.Integer(),
  applyToPresent: Type.Boolean(),
  createdAt: utcTime('Start.'),
  createdBy: Type.String(),
  endedAt: nullable(utcTime('When it came to a final state.')),
  rings: Type.Array(
    closed({
      name: Type.String(),
      tags: Type.Array(Type.String()),
      sharePercent: nullable(Type.Integer()),
      state: Type.Enum(rolloutRingStates),
      startedAt: nullable(utcTime('When it started and its hosts were fixed.')),
      dwellUntil: nullable(utcTime('Until when it is watched.')),
      hosts: closed(
        Object.fromEntries(rolloutHostStates.map((state) => [state, count(`Hosts that are ${state}.`)])) as Record<
          RolloutHostState,
          ReturnType<typeof count>
        >,
        { description: 'Hosts by state; all 0 before the ring starts.' },
      ),
      predictedBlocks: count('Over hosts that were commanded.'),
      actualBlocks: count('Over hosts that were commanded.'),
      overPrediction: count('Hosts that blocked more than was predicted for them.'),
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
  response: closed({ data: Type.Array(Rollout, { description: 'At most 100.' }) }),
})

export const getRollout = operation({
  ...reading,
  id: 'getRollout',
  method: 'GET',
  path: `${base}/{id}`,
  summary: 'Reads one rollout with the progress of its rings',
  params,
  response: Rollout,
})

export const listRolloutHosts = operation({
  ...reading,
  id: 'listRolloutHosts',
  method: 'GET',
  path: `${base}/{id}/hosts`,
  summary: 'Lists hosts of the started rings, by ring and name',
  params,
  query: closed({
    ring: Type.Optional(Type.Integer({ minimum: 0, maximum: 19, description: 'Only of this ring, from 0.' })),
    state: Type.Optional(Type.Enum(rolloutHostStates, { description: 'Only in this state.' })),
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
  summary: 'Says what a rollout would do, as of now; nothing is changed',
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
    'One of a kind at a time. The hosts of a ring are fixed when it starts. It halts by itself when a ring passes a budget; hosts that are offline get it when they are back.',
  body: RolloutInput,
  response: Rollout,
  errors: ['conflict'],
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

export const pauseRollout = control('pause', 'Holds a rollout: no further host gets it')
export const resumeRollout = control(
  'resume',
  'Goes on with a paused or halted rollout',
  'Going on after a halt accepts what failed so far; the budgets count from there.',
  { fresh: true },
)
export const haltRollout = control('halt', 'Halts a rollout: commands that no host has ended yet are cancelled')
export const revertRollout = operation({
  ...control(
    'revert',
    'Ends a rollout of arming and frees what it armed',
    'Hosts that were armed before stay armed. Above the number of hosts that the policy settings say, a second person has to approve it. An update cannot be reverted: a host goes back by itself when the new build fails, never later.',
    { errors: ['second_person_required'], fresh: 'it frees more hosts than one person may free alone' },
  ),
  body: nullable(
    closed({
      reason: Type.Optional(
        Type.String({ maxLength: 200, description: 'Why; kept with the rollout and shown to a second approver.' }),
      ),
    }),
  ),
  bodyOptional: true,
})
export const cancelRollout = control('cancel', 'Ends a rollout; what it has done stays')
