import type { AssetsRead, StreamMessage } from './assets.read.ts'

/** Places asked for at once, and characters of their texts that are aimed at: a host with 64 interfaces has 100 KiB. */
const mostAtOnce = 500
const fewestAtOnce = 10
const aimedAt = 512 * 1024

export interface Portion {
  messages: StreamMessage[]
  /** Place of the last one, of those without a message too. */
  position: number
  /** Nothing was beyond it. */
  isEnd: boolean
}

/** Reads the stream in portions of a bounded size: what is held of it is one portion, whatever waits. */
export const createReader = (read: Pick<AssetsRead, 'after'>, most = mostAtOnce) => {
  let limit = Math.min(100, most)
  return async (after: number): Promise<Portion> => {
    const asked = limit
    const rows = await read.after(after, asked)
    const messages = rows.filter((row): row is StreamMessage => row.text !== null)
    const size = messages.reduce((sum, { text }) => sum + text.length, 0)
    if (messages.length > 0)
      limit = Math.min(most, Math.max(fewestAtOnce, Math.floor((aimedAt * messages.length) / Math.max(1, size))))
    return { messages, position: rows.at(-1)?.sequence ?? after, isEnd: rows.length < asked }
  }
}
