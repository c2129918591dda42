import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { windowsScriptName } from '@portcullis/domain'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminPassword, createTree, remove, startServer, temporaryDir } from '../../proof/kit/harness.ts'
import { agentFile, buildAgents } from './agents.ts'
import { DEBIAN_MIRROR } from './debian.ts'
import { stageImageRoot } from './image-root.ts'
import { TARGETS, type Target } from './targets.ts'

const QEMU = '/usr/bin/qemu-aarch64-static'

const whyNot =
  process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)
    ? `releases are for Linux on x64 and arm64, not ${process.platform} ${process.arch}`
    : null

const whyNoArm =
  whyNot ??
  (process.arch === 'arm64' || existsSync(QEMU)
    ? existsSync('/usr/bin/apt-get')
      ? null
      : 'the C library for arm64 comes from Debian, and apt-get is missing'
    : 'qemu-aarch64-static is missing (apt-get install qemu-user-static)')

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

describe('the agents of a release', unless(whyNot), () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-agents-'))
  const agents = join(dir, 'first')
  const [x64, arm64] = TARGETS as readonly [Target, Target]
  const version = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version
  /** Root folder with the C library for arm64. */
  const root = join(dir, 'root')

  /** Runs the agent for arm64, emulated if this machine has another architecture. */
  const onArm = (args: string[]) => {
    const [program = '', ...words] =
      process.arch === 'arm64' ? [agentFile(agents, arm64)] : [QEMU, '-L', root, agentFile(agents, arm64)]
    return spawnSync(program, [...words, ...args], { encoding: 'utf8', timeout: 100_000 })
  }

  beforeAll(() => buildAgents(agents), 200_000)
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  it('have the same bytes when they are built again in another folder', async () => {
    const second = join(dir, 'a', 'longer', 'second')
    await buildAgents(second)
    const executables = ['portcullis-agent-linux-arm64', 'portcullis-agent-linux-x64']
    const names = ['agent.cjs', 'manifest.json', ...executables, windowsScriptName]
    expect(readdirSync(agents).sort()).toEqual(names)
    for (const name of names) expect([name, digestOf(join(second, name))]).toEqual([name, digestOf(join(agents, name))])
  }, 200_000)

  it('are for their architectures', () => {
    for (const target of TARGETS) expect(readFileSync(agentFile(agents, target)).readUInt16LE(18)).toBe(target.machine)
  })

  it('print their version on x64', (context) => {
    if (process.arch !== 'x64') return context.skip('this machine is not x64')
    const done = spawnSync(agentFile(agents, x64), ['--version'], { encoding: 'utf8' })
    expect(done).toMatchObject({ status: 0, stdout: `${version}\n` })
  })

  describe('on arm64', unless(whyNoArm), () => {
    beforeAll(() => stageImageRoot(root, arm64, DEBIAN_MIRROR), 200_000)

    it('print their version', () => {
      expect(onArm(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n` })
    })

    it('enrol and check in', async () => {
      const dataDir = temporaryDir()
      const tree = createTree()
      const server = await startServer(dataDir, { PORTCULLIS_ADMIN_PASSWORD: adminPassword })
      try {
        const token = await server.enrolmentToken()
        const done = onArm([
          ...['--server', server.url, '--token', token, '--state-dir', join(dir, 'state'), '--once'],
          ...['--sysfs-root', tree.dir, '--monitor-command', 'none'],
        ])
        expect(done.status, done.stderr).toBe(0)
        const [host] = await server.agents()
        expect(await server.agent(host?.uuid ?? '')).toMatchObject({
          serviceVersion: version,
          facts: { architecture: 'arm64' },
        })
      } finally {
        await server.stop()
        remove(dataDir)
        remove(tree.dir)
      }
    }, 200_000)
  })
})
