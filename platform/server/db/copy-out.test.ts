import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Body } from '../body.ts'
import { copyRows, type RowEnds } from './copy-out.ts'

const message = (type: string, content: string): Buffer => {
  const bytes = Buffer.from(content)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}

class FakeStream extends EventEmitter {
  paused = 0
  pause(): void {
    this.paused += 1
  }
  resume(): void {}
}

/** Lets a database send `chunks` and returns the text of the body and what the driver got. */
const receive = async (chunks: readonly Buffer[], ends: RowEnds) => {
  const stream = new FakeStream()
  const toDriver: Buffer[] = []
  stream.on('data', (bytes: Buffer) => toDriver.push(Buffer.from(bytes)))
  const body = new Body()
  let reader: { handleReadyForQuery(): void } | undefined
  const client = {
    query: (given: { submit(connection: unknown): void; handleReadyForQuery(): void }) => {
      reader = given
      given.submit({ stream, query: () => {} })
    },
  }
  const copied = copyRows(client as never, 'COPY t TO STDOUT', body, ends).then(
    () => body.finish(),
    (error) => body.destroy(error),
  )
  const text = body.toArray().then((parts) => Buffer.concat(parts).toString())
  for (const chunk of chunks) {
    // As a socket that reads into one buffer: its bytes are gone after the event.
    const lent = Buffer.from(chunk)
    stream.emit('data', lent)
    lent.fill(0)
  }
  reader?.handleReadyForQuery()
  await copied
  return { text: await text, driver: Buffer.concat(toDriver).toString() }
}

const rows = ['a,"x,\ny ""q""\n",b', '', 'é,,😀', 'd']
const answer = Buffer.concat([
  message('H', '\0\0\0'),
  message('d', `${rows[0]}\n`),
  message('N', 'a notice'),
  ...rows.slice(1).map((row) => message('d', `${row}\n`)),
  message('S', 'TimeZone\0UTC\0'),
])
const end = Buffer.concat([message('c', ''), message('C', 'COPY 4\0'), message('Z', 'T')])

describe('COPY to a body', () => {
  it.each<[string, RowEnds, string]>([
    ['after each row', { after: '\r\n' }, rows.map((row) => `${row}\r\n`).join('')],
    ['between rows', { between: ',' }, rows.join(',')],
  ])('writes the end of a row %s, wherever the bytes are split', async (_, ends, expected) => {
    const whole = Buffer.concat([answer, end])
    for (let cut = 0; cut <= whole.length; cut++) {
      const { text, driver } = await receive([whole.subarray(0, cut), whole.subarray(cut)], ends)
      expect(text, `cut at ${cut}`).toBe(expected)
      expect(driver.slice(-end.length), `cut at ${cut}`).toBe(end.toString())
    }
    const single = [...whole].map((byte) => Buffer.from([byte]))
    expect((await receive(single, ends)).text).toBe(expected)
  })

  it('fails for a row without a line feed', async () => {
    await expect(receive([message('d', 'no line feed')], {})).rejects.toThrow('line feed')
  })
})
