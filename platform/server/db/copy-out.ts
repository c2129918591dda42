import type { Readable } from 'node:stream'
import type pg from 'pg'
import { Body } from '../body.ts'
import { LendingSocket } from './lending-socket.ts'

/** Text between rows, and after each one instead of the line feed of COPY, and a change of each row. */
export interface RowEnds {
  between?: string
  after?: string
  /** The given buffer is valid during the call only. */
  rewrite?: (row: Buffer) => Buffer
}

/** The parts of pg's connection that COPY uses. */
interface Connection {
  stream: NodeJS.ReadableStream & { pause(): unknown; resume(): unknown }
  query(text: string): void
}

const [copyData, headBytes, lineFeed] = [100, 5, 10]
/** CopyOutResponse, NoticeResponse, ParameterStatus and NotificationResponse, which carry no rows. */
const skipped: ReadonlySet<number> = new Set([72, 78, 83, 65])

/**
 * Reads the rows of COPY … TO STDOUT from the connection and puts them into a body, without an object per row. The
 * protocol has exactly one message per row, which ends with a line feed.
 */
class RowReader {
  /** Set by pg for a statement with a timeout. */
  callback: (() => void) | undefined
  readonly #text: string
  readonly #body: Body
  readonly #between: Buffer
  readonly #after: Buffer
  readonly #rewrite: RowEnds['rewrite']
  /** First bytes of a row that is to be rewritten. */
  #part = Buffer.alloc(0)
  readonly #resolve: () => void
  readonly #reject: (error: Error) => void
  #connection: Connection | undefined
  #toDriver: ((bytes: Buffer) => void) | undefined
  /** First bytes of a message whose head is not complete. */
  #head = Buffer.alloc(0)
  /** Bytes that are left of the current message. */
  #left = 0
  #isRow = false
  #isOver = false
  #rows = 0

  constructor(text: string, body: Body, ends: RowEnds, resolve: () => void, reject: (error: Error) => void) {
    this.#text = text
    this.#body = body
    this.#between = Buffer.from(ends.between ?? '')
    this.#after = Buffer.from(ends.after ?? '')
    this.#rewrite = ends.rewrite
    this.#resolve = resolve
    this.#reject = reject
  }

  submit(connection: Connection): void {
    const { stream } = connection
    this.#connection = connection
    this.#toDriver = stream.listeners('data')[0] as (bytes: Buffer) => void
    stream.off('data', this.#toDriver).on('data', this.#take)
    if (stream instanceof LendingSocket) stream.lends = true
    this.#body.onRoom = () => {
      if (this.#body.destroyed) this.#fail(new Error('the reader left'))
      else stream.resume()
    }
    connection.query(this.#text)
  }

  readonly #take = (bytes: Buffer): void => {
    if (this.#body.destroyed || this.#isOver) return
    for (let at = 0; at < bytes.length; ) {
      if (this.#left === 0) {
        const begun = this.#begin(bytes, at)
        if (begun === undefined) return
        at = begun
      }
      const end = Math.min(at + this.#left, bytes.length)
      this.#left -= end - at
      if (this.#isRow) this.#putRow(bytes, at, end)
      at = end
    }
    this.#body.flush()
    if (!this.#body.hasRoom()) this.#connection?.stream.pause()
  }

  /** Reads the head of a message and returns the position of its content, undefined if it is not one of COPY. */
  #begin(bytes: Buffer, at: number): number | undefined {
    let [head, from] = [bytes, at]
    let next = at + headBytes
    if (this.#head.length > 0 || next > bytes.length) {
      const known = this.#head.length
      next = Math.min(at + headBytes - known, bytes.length)
      this.#head = Buffer.concat([this.#head, bytes.subarray(at, next)])
      if (this.#head.length < headBytes && !this.#isOther(this.#head[0])) {
        this.#isRow = false
        return bytes.length
      }
      ;[head, from] = [this.#head, 0]
    }
    const code = head[from]
    if (this.#isOther(code)) {
      this.#detach(Buffer.concat(head === bytes ? [bytes.subarray(at)] : [head, bytes.subarray(next)]))
      return undefined
    }
    this.#left = head.readUInt32BE(from + 1) - 4
    if (head !== bytes) this.#head = Buffer.alloc(0)
    this.#isRow = code === copyData
    if (this.#isRow && this.#rows++ > 0) this.#body.put(this.#between)
    return next
  }

  #isOther(code: number | undefined): boolean {
    return code !== undefined && code !== copyData && !skipped.has(code)
  }

  #putRow(bytes: Buffer, at: number, end: number): void {
    const isWhole = this.#left === 0
    const part = bytes.subarray(at, isWhole ? end - 1 : end)
    if (this.#rewrite === undefined) this.#body.put(part)
    else if (!isWhole) this.#part = Buffer.concat([this.#part, part])
    else {
      this.#body.put(this.#rewrite(this.#part.length === 0 ? part : Buffer.concat([this.#part, part])))
      this.#part = Buffer.alloc(0)
    }
    if (!isWhole) return
    if (end === at || bytes[end - 1] !== lineFeed) this.#fail(new Error('a row of COPY has no line feed'))
    this.#body.put(this.#after)
  }

  /** Returns the connection to the driver with what follows the rows. */
  #detach(rest: Buffer): void {
    const [stream, toDriver] = [this.#connection?.stream, this.#toDriver]
    if (stream === undefined || toDriver === undefined) return
    this.#connection = undefined
    this.#body.onRoom = () => {}
    stream.off('data', this.#take).on('data', toDriver)
    if (stream instanceof LendingSocket) stream.lends = false
    if (rest.length > 0) toDriver(rest)
    stream.resume()
  }

  #fail(error: Error): void {
    this.#isOver = true
    this.callback?.()
    this.#reject(error)
  }

  handleError(error: Error): void {
    this.#detach(Buffer.alloc(0))
    this.#fail(error)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback?.()
    this.#resolve()
  }
}

/** Puts the rows of a COPY … TO STDOUT into a body. If it rejects, the connection is unusable. */
export const copyRows = (
  client: Pick<pg.ClientBase, 'query'>,
  statement: string,
  body: Body,
  ends: RowEnds,
): Promise<void> =>
  new Promise((resolve, reject) => {
    if (body.destroyed) reject(new Error('the reader left'))
    else client.query(new RowReader(statement, body, ends, resolve, reject) as unknown as pg.Submittable)
  })

/** Returns the output of a COPY … TO STDOUT as it is. */
export const copyOut = (client: Pick<pg.ClientBase, 'query'>, statement: string): Readable => {
  const body = new Body()
  copyRows(client, statement, body, { after: '\n' }).then(
    () => body.finish(),
    (error: Error) => body.destroy(error),
  )
  return body
}
