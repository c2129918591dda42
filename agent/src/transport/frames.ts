import { randomBytes } from 'node:crypto'

/** WebSocket opcodes (RFC 6455, section 5.2) that the agent uses. */
export const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const

export interface Frame {
  opcode: number
  payload: Buffer
}

/** The peer violated RFC 6455 or the limits of the wake socket. */
export class FrameError extends Error {}

/** Maximum size of a control frame. The wake socket needs no longer frames. */
const MAX_PAYLOAD = 125

/** Returns a masked client frame (RFC 6455, section 5.3) of at most 125 bytes. */
export const encodeFrame = (opcode: number, payload: Buffer = Buffer.alloc(0)): Buffer => {
  const mask = randomBytes(4)
  const head = Buffer.from([0x80 | opcode, 0x80 | payload.length])
  const masked = Buffer.from(payload)
  for (let i = 0; i < masked.length; i++) masked[i] = (masked[i] ?? 0) ^ (mask[i % 4] ?? 0)
  return Buffer.concat([head, mask, masked])
}

/**
 * Splits the byte stream of a server into frames. It refuses fragments, masks, extensions and frames over 125 bytes. The
 * limit protects the memory of the host.
 */
export const createFrameReader = () => {
  let rest: Buffer = Buffer.alloc(0)
  return {
    /** @throws FrameError */
    push(chunk: Buffer): Frame[] {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const frames: Frame[] = []
      while (rest.length >= 2) {
        const first = rest[0] ?? 0
        const length = rest[1] ?? 0
        if ((first & 0x80) === 0 || (first & 0x70) !== 0) throw new FrameError('fragmented or extended frame')
        if ((length & 0x80) !== 0) throw new FrameError('masked frame from the server')
        if (length > MAX_PAYLOAD) throw new FrameError('frame over 125 bytes')
        if (rest.length < 2 + length) break
        frames.push({ opcode: first & 0x0f, payload: Buffer.from(rest.subarray(2, 2 + length)) })
        rest = rest.subarray(2 + length)
      }
      return frames
    },
  }
}
