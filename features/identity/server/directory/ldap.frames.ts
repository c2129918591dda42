import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { LdapFault } from './ldap.fault.ts'

/** Bytes of one message. The entry of a person with a picture has about 100 KiB. */
const maxMessageBytes = 1024 * 1024
/** Bytes and messages of one connection. 5,000 groups are 5,000 messages of about 100 bytes. */
const maxBytes = 8 * 1024 * 1024
const maxMessages = 20_000

export const noDirectory = (): LdapFault =>
  new LdapFault('notLdap', 'The connection broke. The server at this address may not be a directory.')

/** Returns the length and the start of a BER element's content. Null while bytes are missing. */
export const berLength = (bytes: Buffer, at: number): { length: number; start: number } | null => {
  const first = bytes[at]
  if (first === undefined) return null
  if (first < 0x80) return { length: first, start: at + 1 }
  const more = first & 0x7f
  if (more === 0 || more > 4) throw noDirectory()
  return bytes.length < at + 1 + more ? null : { length: bytes.readUIntBE(at + 1, more), start: at + 1 + more }
}

/** Returns the end of the first LDAP message in the bytes. Null while bytes are missing. */
export const messageEnd = (bytes: Buffer, most: number): number | null => {
  if (bytes.length === 0) return null
  if (bytes[0] !== 0x30) throw noDirectory()
  const content = berLength(bytes, 1)
  if (content === null) return null
  const end = content.start + content.length
  if (end > most) throw noDirectory()
  return bytes.length < end ? null : end
}

/**
 * Passes messages on one by one, complete and of limited size. The LDAP library recurses for each message of a chunk:
 * about 9,000 tiny ones in 64 KiB were enough to end the process.
 */
export class LdapFrames extends Duplex {
  readonly connecting = false
  readonly readyState = 'open'
  readonly #socket: Socket
  #parts: Buffer[] = []
  #held = 0
  /** Bytes that must arrive before the next parse. */
  #wanted = 2
  #bytes = 0
  #messages = 0

  constructor(socket: Socket) {
    super()
    this.#socket = socket
    socket.on('data', (bytes) => this.#take(bytes))
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  #take(bytes: Buffer): void {
    this.#bytes += bytes.length
    this.#held += bytes.length
    this.#parts.push(bytes)
    if (this.#bytes > maxBytes) {
      this.destroy(noDirectory())
      return
    }
    if (this.#held < this.#wanted) return
    try {
      let rest = Buffer.concat(this.#parts)
      for (let end = messageEnd(rest, maxMessageBytes); end !== null; end = messageEnd(rest, maxMessageBytes)) {
        if (++this.#messages > maxMessages) throw noDirectory()
        this.push(rest.subarray(0, end))
        rest = rest.subarray(end)
      }
      const content = rest.length < 2 ? null : berLength(rest, 1)
      this.#wanted = content === null ? rest.length + 1 : content.start + content.length
      this.#parts = [rest]
      this.#held = rest.length
    } catch (error) {
      // The library throws malformed messages outside any promise, so the check is here.
      this.destroy(error instanceof LdapFault ? error : noDirectory())
    }
  }

  override _read(): void {
    // The limits above bound what is held, so there is no backpressure.
  }
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }
  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done())
  }
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}
