import { deleteAgentsCommands } from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bodyReader } from './read-body.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

const url = '/prime/webui/agents/deleteAgentsCommands'
const large = JSON.stringify(Array.from({ length: 50_000 }, (_, i) => `host-${i}`))

it('large bodies of one account are read one at a time, and another account does not wait for all of them', async () => {
  const [flooder, other] = [await person(t, { profile: 20 }), await person(t, { profile: 20 })]
  const order: string[] = []
  const send = async ({ api }: typeof flooder, name: string) => {
    const { statusCode } = await api.post(url, `${large.slice(0, -1)},1]`)
    order.push(`${name} ${statusCode}`)
  }
  const flood = Array.from({ length: 8 }, () => send(flooder, 'flooder'))
  await Promise.race(flood)
  await Promise.all([...flood, send(other, 'other')])
  expect(order).toHaveLength(9)
  expect(order.filter((one) => one === 'flooder 400')).toHaveLength(8)
  expect(order.indexOf('other 400')).toBeLessThan(6)
})

it('an account with too many large bodies at once is refused', async () => {
  const flooder = await person(t, { profile: 20 })
  const answers = await Promise.all(Array.from({ length: 40 }, () => flooder.api.post(url, large)))
  const refused = answers.filter(({ statusCode }) => statusCode === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]?.json()).toMatchObject({ code: 'too_many_requests' })
  expect(refused[0]?.headers['retry-after']).toBe('5')
  expect((await flooder.api.post(url, large)).statusCode).toBe(200)
})

it('others are served between the steps of reading a large body', async () => {
  const read = bodyReader(deleteAgentsCommands.body, false)
  const turnsOf = async (text: string): Promise<number> => {
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    await read({ contentType: 'application/json', bytes: Buffer.from(text) })
    isOver = true
    return turns
  }
  expect(await turnsOf(large)).toBe(3)
  expect(await turnsOf('["host-1"]')).toBe(0)
})
