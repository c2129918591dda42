import { afterAll, beforeAll, expect, it } from 'vitest'
import { nodeFlags } from '../agent/src/node-flags.ts'
import {
  createTree,
  type RunningServer,
  remove,
  type Started,
  start,
  startServer,
  temporaryDir,
  until,
} from '../proof/kit/harness.ts'
import { serverDir } from './prepared.ts'

const [dir, stateDir] = [serverDir(), temporaryDir()]
const tree = createTree([])
const dayMs = 86_400_000
let server: RunningServer
let agent: Started | undefined

beforeAll(async () => {
  server = await startServer(dir)
})
afterAll(async () => {
  agent?.child.kill('SIGTERM')
  await agent?.ended
  await server?.stop()
  for (const one of [dir, stateDir, tree.dir]) remove(one)
})

/** Starts the agent on a host whose clock is wrong by `ms`. */
const startWith = (ms: number, token: string): Started => {
  const shift = `const now = Date.now; Date.now = () => now() + ${ms}`
  const args = ['--server', server.url, '--token', token, '--state-dir', stateDir, '--sysfs-root', tree.dir]
  return start('agent/src/main.ts', [...args, '--monitor-command', 'none'], {}, [
    ...[...nodeFlags, '--import', `data:text/javascript,${encodeURIComponent(shift)}`],
  ])
}

it('a host connects whatever its clock, also after the clock was set back', async () => {
  const token = await server.enrolmentToken()
  for (const days of [-40, 40, -41]) {
    agent = startWith(days * dayMs, token)
    const sessions = () => agent?.output().split('session_opened').length ?? 0
    await until(`a session ${days} days away\n${agent.output()}`, () => sessions() > 1, 20_000)
    agent.child.kill('SIGTERM')
    await agent.ended
  }
  expect(await server.agents()).toHaveLength(1)
}, 60_000)
