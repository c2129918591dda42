import { agentLimits, maxReleaseKeyRotations, maxRevertMinutes } from '@portcullis/contract/agent-protocol.ts'
import { releaseKeyPair, rotationOf } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { parseCommand } from '../src/parse-command.ts'

const head = { id: 'c', agentId: 'a', kind: 'policy', counter: 3, expiresAt: '2031-05-04T10:11:12.000Z' }
const parse = (members: object) => parseCommand(JSON.stringify({ ...head, ...members }))
const rotation = rotationOf(releaseKeyPair(), releaseKeyPair(), 1)
const release = { id: 'h', accept: true }
const build = {
  ...{ kind: 'update', version: '1.0.0', sha256: 'a'.repeat(64), size: 0, architecture: 'x64' },
  ...{ releaseKey: 'k', releaseSignature: 's' },
}
const long = (length: number) => 'x'.repeat(length)

describe('a command', () => {
  it.each<[string, object, object]>([
    [
      'configure, with no time to revert by default',
      { kind: 'configure', mode: 'Free', applyToPresent: false },
      { mode: 'Free', applyToPresent: false, revertMinutes: 0 },
    ],
    [
      'configure with the longest time to revert',
      { kind: 'configure', mode: 'Armed', applyToPresent: true, revertMinutes: maxRevertMinutes },
      { mode: 'Armed', applyToPresent: true, revertMinutes: maxRevertMinutes },
    ],
    ['policy', { kind: 'policy', version: 0 }, { version: 0 }],
    ['collect-logs', { kind: 'collect-logs' }, {}],
    ['release-ports', { kind: 'release-ports', releases: [release] }, { releases: [release] }],
    [
      'release-ports with all ports',
      { kind: 'release-ports', releases: Array(agentLimits.heldPorts).fill(release) },
      { releases: Array(agentLimits.heldPorts).fill(release) },
    ],
    ['update', build, { ...build, rotations: [] }],
    [
      'update with rotations',
      { ...build, rotations: Array(maxReleaseKeyRotations).fill(rotation) },
      { ...build, rotations: Array(maxReleaseKeyRotations).fill(rotation) },
    ],
    [
      'update with the longest texts',
      { ...build, version: long(64), architecture: long(32), releaseKey: long(512), releaseSignature: long(512) },
      { version: long(64), architecture: long(32), releaseKey: long(512), releaseSignature: long(512) },
    ],
  ])('%s', (_, members, body) => {
    const { kind } = { ...head, ...members }
    expect(parse({ ...members, unknown: 1 })).toEqual({
      ...head,
      kind,
      command: { ...head, ...(kind === 'update' ? { ...build, rotations: [] } : {}), ...body, kind },
    })
  })

  it.each<[string, object]>([
    ['of an unknown kind', { kind: 'explode' }],
    ['of a kind that every object has', { kind: 'toString' }],
    ['policy without a version', {}],
    ...[-1, 1.5, '1', null].map((version): [string, object] => [`policy of version ${version}`, { version }]),
    ['configure without a mode', { kind: 'configure', applyToPresent: true }],
    ['configure with another mode', { kind: 'configure', mode: 'Off', applyToPresent: true }],
    ['configure without devices', { kind: 'configure', mode: 'Free' }],
    ['configure, reverted later', { kind: 'configure', mode: 'Free', applyToPresent: true, revertMinutes: 1_441 }],
    ['configure, reverted before', { kind: 'configure', mode: 'Free', applyToPresent: true, revertMinutes: -1 }],
    ['release-ports without ports', { kind: 'release-ports' }],
    ['release-ports of too many', { kind: 'release-ports', releases: Array(65).fill(release) }],
    ...[null, {}, { id: 'h' }, { id: '', accept: true }, { id: long(65), accept: true }].map(
      (one): [string, object] => [
        `release-ports of ${JSON.stringify(one)?.slice(0, 30)}`,
        { kind: 'release-ports', releases: [release, one] },
      ],
    ),
    ...Object.entries({
      version: [undefined, '', long(65)],
      sha256: [
        undefined,
        1,
        ['a'.repeat(64)],
        'a'.repeat(63),
        `${'a'.repeat(64)}a`,
        ` ${'a'.repeat(64)}`,
        'G'.repeat(64),
      ],
      size: [undefined, -1],
      architecture: [undefined, '', long(33)],
      releaseKey: [undefined, '', long(513)],
      releaseSignature: [undefined, '', long(513)],
      rotations: [null, {}, [{}], [rotation, {}], Array(61).fill(rotation)],
    }).flatMap(([name, values]) =>
      values.map((value, i): [string, object] => [
        // Without random parts of keys, because Stryker chooses tests by their title.
        `update with ${name} ${i}: ${JSON.stringify(value)?.slice(0, 20)}`,
        { ...build, [name]: value },
      ]),
    ),
  ])('%s is known only by its head', (_, members) => {
    const { kind } = { ...head, ...members }
    expect(parse(members)).toEqual({ ...head, kind, command: undefined })
  })

  it.each<[string, object]>([
    ['without an id', { id: undefined }],
    ['with an empty id', { id: '' }],
    ['with a long id', { id: long(65) }],
    ['with a number as id', { id: 1 }],
    ['without an agent', { agentId: undefined }],
    ['without a kind', { kind: undefined }],
    ['with half a counter', { counter: 0.5 }],
    ['with a string as counter', { counter: '3' }],
    ['without an end', { expiresAt: undefined }],
  ])('%s is not a command', (_, members) => {
    expect(parse({ version: 1, ...members })).toBeUndefined()
  })

  it.each(['', 'null', '1', '"text"', '[]', '{'])('that is only %j is not a command', (text) => {
    expect(parseCommand(text)).toBeUndefined()
  })
})
