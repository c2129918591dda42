import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'

let t: TestApp
const sockets: Socket[] = []
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(() => t.close())

/**
 * Sends bodies without their last bytes on many connections. Returns the responses: at least this many, or all within a
 * second.
 */
const unfinished = async (count: number, head: string, body: Buffer, atLeast = 0): Promise<string[]> => {
  const answers: string[] = []
  for (let i = 0; i < count; i++) {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(t.address).port) })
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => answers.push(data.toString('latin1').slice(0, 12)))
    socket.write(`${head}host: x\r\ncontent-length: ${body.length + 100}\r\n\r\n`)
    socket.write(body)
    await sleep(5)
  }
  for (let i = 0; atLeast === 0 ? i < 20 : i < 300 && answers.length < atLeast; i++) await sleep(50)
  return answers
}
const leave = async (): Promise<void> => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await sleep(500)
}

it('callers without a credential use up no memory, and everybody can still sign in', async () => {
  const head = 'POST /prime/webui/Auth/LocalLogin HTTP/1.1\r\ncontent-type: application/json\r\n'
  const answers = await unfinished(80, head, Buffer.alloc(1_000_000, 32), 80)
  expect([answers.length, [...new Set(answers)]]).toEqual([80, ['HTTP/1.1 413']])
  await t.signIn()
  await leave()
  expect(await unfinished(10, head, Buffer.alloc(16_000, 32))).toEqual([])
}, 30_000)

it('bodies of people use at most 128 MiB, and others can keep working', async () => {
  const low = await person(t)
  const head = `POST /prime/webui/policy/preview HTTP/1.1\r\nauthorization: Bearer ${low.token}\r\ncontent-type: application/json\r\n`
  const answers = await unfinished(20, head, Buffer.alloc(8_000_000, 32), 1)
  expect([answers.length > 0, [...new Set(answers)]]).toEqual([true, ['HTTP/1.1 503']])
  expect((await low.api.post('/prime/webui/admin/updateuserdetails', { phone: '1' })).statusCode).toBe(200)
}, 30_000)

it('files read into memory use at most 128 MiB', async () => {
  const head = `POST /prime/webui/agents/agentless/uploadconnectiondetailsfile HTTP/1.1\r\nauthorization: Bearer ${await t.signIn()}\r\ncontent-type: multipart/form-data; boundary=b\r\n`
  const start = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
  const body = Buffer.concat([Buffer.from(start), Buffer.alloc(30_000_000, 97)])
  const answers = await unfinished(6, head, body, 1)
  expect([answers.length > 0, [...new Set(answers)]]).toEqual([true, ['HTTP/1.1 503']])
  await leave()
  expect(await unfinished(2, head, body)).toEqual([])
}, 30_000)
