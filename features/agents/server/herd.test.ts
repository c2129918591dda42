// Invariant: A fleet that opens all its sessions at once leaves database connections for others.

import { randomUUID } from 'node:crypto'
import { startTestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent } from '@portcullis/server/test/builders.ts'
import { expect, it } from 'vitest'
import { agentPaths } from '#features/contract.ts'

it('a fleet that opens all sessions at once leaves connections for other requests', async () => {
  const t = await startTestApp({ listen: true })
  const admin = await t.admin()
  const [slow, other] = [await enrolAgent(t), await enrolAgent(t)]
  let opened: Promise<{ status: number }[]> = Promise.resolve([])
  await t.db.withClient(async (client) => {
    // Every session of this host waits for this lock.
    await client.query('BEGIN')
    await client.query('SELECT 1 FROM agent_heartbeats WHERE agent_id = $1 FOR UPDATE', [slow.agentId])
    opened = Promise.all(Array.from({ length: 40 }, () => agentPost(t, agentPaths.session, slow.proven(randomUUID()))))
    // All requests have arrived, and the allowed number waits for the host.
    await expect.poll(() => t.db.figures().used, { timeout: 10_000 }).toBeGreaterThanOrEqual(6)
    // The pool grows by one connection at a time.
    await expect.poll(() => t.db.figures().waiting, { timeout: 10_000 }).toBe(0)
    await other.checkIn()
    expect((await admin.get('/prime/webui/agents')).statusCode).toBe(200)
    await client.query('COMMIT')
  })
  const statuses = new Set((await opened).map(({ status }) => status))
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
  await t.close()
})
