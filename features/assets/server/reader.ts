import type { AssetsRead, StreamMessage } from './assets.read.ts'

/** Positions per query and target size of their texts: a host with 64 interfaces has 100 KiB. */
const mostAtOnce = 500
const fewestAtOnce = 10
const aimedAt = 512 * 1024

export interface Portion {
  messages: StreamMessage[]
  /** Last position, including positions without a message. */
  position: number
  /** Whether the stream ended here. */
  isEnd: boolean
}

/** Reads the stream in portions of a bounded size, so that memory holds one portion whatever the backlog. */
export const createReader = (read: AssetsRead, most = mostAtOnce) => {
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
