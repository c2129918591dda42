import { createServer, type Server, type Socket } from 'node:net'

/**
 * A stub of a Kafka broker: ApiVersions, Metadata, InitProducerId and Produce in the versions before compact encoding,
 * one topic with three partitions, and batches (format 2) without compression. It stores each record once per producer
 * and sequence, as brokers do for idempotent producers.
 */
interface Record {
  partition: number
  key: string
  value: string
}

const int16 = (n: number): Buffer => {
  const b = Buffer.alloc(2)
  b.writeInt16BE(n)
  return b
}
const int32 = (n: number): Buffer => {
  const b = Buffer.alloc(4)
  b.writeInt32BE(n)
  return b
}
const int64 = (n: number | bigint): Buffer => {
  const b = Buffer.alloc(8)
  b.writeBigInt64BE(BigInt(n))
  return b
}
const text = (s: string): Buffer => Buffer.concat([int16(Buffer.byteLength(s)), Buffer.from(s)])
const array = (items: readonly Buffer[]): Buffer => Buffer.concat([int32(items.length), ...items])

/** Supported versions by API key. */
const apis: readonly (readonly [key: number, least: number, most: number])[] = [
  [0, 3, 7],
  [3, 0, 8],
  [18, 0, 3],
  [22, 0, 1],
]

const reader = (bytes: Buffer) => {
  let at = 0
  const varint = (): number => {
    let result = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++)
      result |= BigInt(byte & 0x7f) << shift
      if ((byte & 0x80) === 0) break
    }
    return Number((result >> 1n) ^ -(result & 1n))
  }
  const take = (n: number): Buffer => {
    at += n
    return bytes.subarray(at - n, at)
  }
  return {
    int8: () => bytes.readInt8(at++),
    int16: () => take(2).readInt16BE(),
    int32: () => take(4).readInt32BE(),
    int64: () => take(8).readBigInt64BE(),
    text: () => {
      const length = take(2).readInt16BE()
      return length < 0 ? null : take(length).toString()
    },
    varint,
    take,
  }
}

export const startKafka = async () => {
  let server: Server | null = null
  let port = 0
  let producers = 0
  /**
   * Number of produced batches after which connections end. The last one is stored but not acknowledged. Null: never.
   */
  let dieAfter: number | null = null
  const sockets = new Set<Socket>()
  const records: Record[] = []
  const sequences = new Set<string>()

  const produce = (body: ReturnType<typeof reader>): Buffer => {
    body.text()
    body.int16()
    body.int32()
    const topics: Buffer[] = []
    for (let t = body.int32(); t > 0; t--) {
      const name = body.text() ?? ''
      const partitions: Buffer[] = []
      for (let p = body.int32(); p > 0; p--) {
        const partition = body.int32()
        const batch = reader(body.take(body.int32()))
        batch.take(8 + 4 + 4 + 1 + 4 + 2 + 4 + 8 + 8)
        const producer = batch.int64()
        const epoch = batch.int16()
        const sequence = batch.int32()
        const count = batch.int32()
        const id = `${partition} ${producer} ${epoch} ${sequence}`
        const isNew = producer < 0n || !sequences.has(id)
        sequences.add(id)
        for (let n = 0; n < count; n++) {
          batch.varint()
          batch.int8()
          batch.varint()
          batch.varint()
          const key = batch.take(batch.varint()).toString()
          const value = batch.take(batch.varint()).toString()
          for (let h = batch.varint(); h > 0; h--) {
            batch.take(batch.varint())
            batch.take(batch.varint())
          }
          if (isNew) records.push({ partition, key, value })
        }
        partitions.push(Buffer.concat([int32(partition), int16(0), int64(0), int64(-1), int64(0)]))
      }
      topics.push(Buffer.concat([text(name), array(partitions)]))
    }
    return Buffer.concat([array(topics), int32(0)])
  }

  const answer = (key: number, version: number, body: ReturnType<typeof reader>): Buffer => {
    if (key === 18) {
      const rows = apis.map(([id, least, most]) => Buffer.concat([int16(id), int16(least), int16(most)]))
      if (version < 3) return Buffer.concat([int16(0), array(rows), ...(version === 0 ? [] : [int32(0)])])
      return Buffer.concat([
        int16(0),
        Buffer.from([rows.length + 1]),
        ...rows.map((row) => Buffer.concat([row, Buffer.from([0])])),
        int32(0),
        Buffer.from([0]),
      ])
    }
    if (key === 22) return Buffer.concat([int32(0), int16(0), int64(++producers), int16(0)])
    if (key === 0) return produce(body)
    const names: string[] = []
    for (let n = body.int32(); n > 0; n--) names.push(body.text() ?? '')
    const partitions = [0, 1, 2].map((n) =>
      Buffer.concat([int16(0), int32(n), int32(1), int32(0), array([int32(1)]), array([int32(1)]), array([])]),
    )
    return Buffer.concat([
      int32(0),
      array([Buffer.concat([int32(1), text('127.0.0.1'), int32(port), int16(-1)])]),
      text('stub'),
      int32(1),
      array(names.map((name) => Buffer.concat([int16(0), text(name), Buffer.from([0]), array(partitions), int32(0)]))),
      int32(0),
    ])
  }

  const serve = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let buffered = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      buffered = Buffer.concat([buffered, chunk])
      while (buffered.length >= 4 && buffered.length >= 4 + buffered.readInt32BE()) {
        const length = buffered.readInt32BE()
        const body = reader(buffered.subarray(4, 4 + length))
        buffered = buffered.subarray(4 + length)
        const [key, version, correlation] = [body.int16(), body.int16(), body.int32()]
        body.text()
        const reply = answer(key, version, body)
        if (key === 0 && dieAfter !== null && --dieAfter < 0) {
          for (const one of sockets) one.destroy()
          dieAfter = null
          return
        }
        socket.write(Buffer.concat([int32(reply.length + 4), int32(correlation), reply]))
      }
    })
  }

  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const made = createServer(serve)
      made.on('error', reject)
      made.listen(port, '127.0.0.1', () => {
        port = (made.address() as { port: number }).port
        server = made
        resolve()
      })
    })
  const stop = async (): Promise<void> => {
    const old = server
    server = null
    for (const socket of sockets) socket.destroy()
    if (old !== null) await new Promise((resolve) => old.close(resolve))
  }
  await start()
  return {
    get broker() {
      return `127.0.0.1:${port}`
    },
    records,
    start,
    stop,
    dieAfter: (batches: number): void => {
      dieAfter = batches
    },
  }
}
