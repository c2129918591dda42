import { ServerResponse } from 'node:http'
import { Readable, Transform } from 'node:stream'

/** Size of a buffer in bytes: at least what one read of a socket returns. */
export const bufferBytes = 64 * 1024
/** Buffers of one body: one is filled while the others are sent. */
const bufferCount = 4
/** Time for a reader to accept the next bytes: a snapshot that stays open longer keeps the database from cleaning up. */
const stallMs = 60_000

/**
 * Ends a body that fails, or whose reader stalls, even if nobody reads it yet or any more. Without a listener, its error
 * would end the process. Refresh the timer when the reader accepts bytes.
 */
const endOfStalled = (body: Readable): NodeJS.Timeout => {
  const timer = setTimeout(() => body.destroy(new Error('the client stopped reading')), stallMs).unref()
  body.on('error', () => {}).once('close', () => clearTimeout(timer))
  return timer
}

/** Passes bytes on and ends if the reader stalls. */
export const guarded = (): Transform => {
  const body: Transform = new Transform({
    highWaterMark: bufferBytes,
    transform(chunk, _encoding, done) {
      timer.refresh()
      done(null, chunk)
    },
  })
  const timer = endOfStalled(body)
  return body
}

interface Filled {
  buffer: Buffer
  length: number
}

/**
 * A body of any size in a fixed amount of memory. A response gets the buffers themselves, and each one is filled again
 * once it was sent. New buffers for every 64 KiB would make the process grow by 60 MB before they are collected. Any
 * other reader gets copies.
 */
export class Body extends Readable {
  readonly #free: Buffer[] = []
  #count = 1
  #current: Filled = { buffer: Buffer.allocUnsafeSlow(bufferBytes), length: 0 }
  #ready: Filled[] = []
  #response: ServerResponse | undefined
  /** Writes that the response has not finished. */
  #sending = 0
  /** Whether a reader other than a response waits for bytes. */
  #isWanted = false
  #isWhole = false
  readonly #timer: NodeJS.Timeout
  /** Called when there is room again, and when the body was destroyed. */
  onRoom: () => void = () => {}

  constructor() {
    super({ highWaterMark: bufferBytes })
    this.#timer = endOfStalled(this)
  }

  /** Returns whether `put` may add the bytes of another read. */
  hasRoom(): boolean {
    return this.#ready.length === 0 && (this.#free.length > 0 || this.#count < bufferCount)
  }

  /** Adds bytes, which the caller may overwrite afterwards. */
  put(bytes: Buffer, from = 0, to = bytes.length): void {
    for (let at = from; at < to; ) {
      const { buffer, length } = this.#current
      const taken = bytes.copy(buffer, length, at, to)
      at += taken
      this.#current.length += taken
      if (this.#current.length === bufferBytes) this.#fill()
    }
  }

  /** Sends what was added so far, unless the reader is busy: then more bytes go with it. */
  flush(): void {
    if (this.#current.length > 0 && this.#ready.length === 0 && this.#isIdle()) this.#fill()
  }

  /** Ends the body after the bytes added so far. */
  finish(): void {
    if (this.#current.length > 0) this.#fill()
    this.#isWhole = true
    this.#send()
  }

  #isIdle(): boolean {
    return this.#response === undefined ? this.#isWanted : this.#sending === 0
  }

  #fill(): void {
    this.#ready.push(this.#current)
    this.#send()
    this.#current = { buffer: this.#freeBuffer(), length: 0 }
  }

  #freeBuffer(): Buffer {
    const free = this.#free.pop()
    if (free !== undefined) return free
    this.#count += 1
    return Buffer.allocUnsafeSlow(bufferBytes)
  }

  #release(buffer: Buffer): void {
    this.#timer.refresh()
    if (this.#count > bufferCount) this.#count -= 1
    else this.#free.push(buffer)
  }

  #send(): void {
    if (this.destroyed) return
    if (this.#response !== undefined) this.#sendTo(this.#response)
    else
      for (let next = this.#ready[0]; next !== undefined && this.#isWanted; next = this.#ready[0]) {
        this.#ready.shift()
        this.#isWanted = this.push(Buffer.from(next.buffer.subarray(0, next.length)))
        this.#release(next.buffer)
      }
    if (!this.#isWhole || this.#ready.length > 0) return
    if (this.#response === undefined) this.push(null)
    else if (this.#sending === 0) this.#endResponse(this.#response)
  }

  #sendTo(response: ServerResponse): void {
    for (const { buffer, length } of this.#ready.splice(0)) {
      this.#sending += 1
      response.write(buffer.subarray(0, length), (error) => {
        this.#sending -= 1
        this.#release(buffer)
        if (error !== null && error !== undefined) this.destroy(error)
        else this.#moved()
      })
    }
  }

  #endResponse(response: ServerResponse): void {
    response.end()
    this.push(null)
    this.resume()
  }

  /** Sends waiting bytes, then asks for more. */
  #moved(): void {
    this.#send()
    if (!this.#isWhole) this.flush()
    if (this.hasRoom()) this.onRoom()
  }

  override _read(): void {
    this.#isWanted = true
    this.#moved()
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T, options?: { end?: boolean }): T {
    if (!(destination instanceof ServerResponse) || this.#response !== undefined || this.readableDidRead)
      return super.pipe(destination, options)
    this.#response = destination
    destination.once('close', () => this.destroy())
    this.#moved()
    return destination
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#ready = []
    done(error)
    this.onRoom()
  }
}
