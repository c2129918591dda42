import { Socket } from 'node:net'

/** Bytes of one read. */
const readBytes = 64 * 1024

/**
 * A socket that reads into one buffer of its own. While it lends, listeners get that buffer and must be done with it
 * when they return; otherwise they get copies. Without it, each read of a large result becomes 64 KiB of garbage.
 */
export class LendingSocket extends Socket {
  lends = false

  constructor() {
    super({
      onread: {
        buffer: Buffer.allocUnsafeSlow(readBytes),
        callback: (length: number, buffer: Buffer): boolean => {
          const bytes = buffer.subarray(0, length)
          this.emit('data', this.lends ? bytes : Buffer.from(bytes))
          return true
        },
      },
    } as never)
  }
}
