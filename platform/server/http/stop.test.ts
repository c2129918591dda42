import { storageStick } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#platform/server/db/sql.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

it('a stopping server answers everything it accepted from hosts that never pause', async () => {
  const hosts = await Promise.all(Array.from({ length: 8 }, () => enrolAgent(t)))
  let acknowledged = 0
  const busy = hosts.map(async (host, h) => {
    for (let n = 0; ; n++) {
      const device = storageStick({ serial: `${h}-${n}` })
      host.devices.set(device.portPath, device)
      const answer = await host.post(host.body({ changes: [{ op: 'attached', at: 1, device }] })).catch(() => null)
      if (answer === null) return
      expect(answer.status, answer.text).toBe(200)
      acknowledged += 1
    }
  })
  await expect.poll(() => acknowledged).toBeGreaterThan(8)
  const closed = t.app.fastify.close()
  // Each response now ends its connection, so that no report is cut in the middle.
  await expect.poll(() => t.app.isDraining()).toBe(true)
  await closed
  await Promise.all(busy)
  const [stored] = await t.server.db.query<{ n: number }>(sql`select count(*) as n from peripherals`)
  expect(stored?.n).toBe(acknowledged)
})

it('a server that never listened leaves no handle that keeps the process alive', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  const silent = await startTestApp()
  await silent.close()
  expect(timers()).toBeLessThanOrEqual(before)
})
