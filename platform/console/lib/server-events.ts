/** One event of the stream. */
export interface ServerEvent {
  name: string
  data: string
}

/**
 * Returns a function that reads server-sent events from chunks of text and returns the complete ones. It skips
 * comments, ids and retry lines, because the channel refreshes instead of resuming.
 */
export const createEventParser = () => {
  let rest = ''
  return (piece: string): ServerEvent[] => {
    rest += piece
    const events: ServerEvent[] = []
    for (;;) {
      const end = /\r\n\r\n|\n\n|\r\r/.exec(rest)
      if (end === null) return events
      const block = rest.slice(0, end.index)
      rest = rest.slice(end.index + end[0].length)
      let name = 'message'
      const data: string[] = []
      for (const line of block.split(/\r\n|\n|\r/)) {
        const [, field, value = ''] = /^(event|data): ?(.*)$/.exec(line) ?? []
        if (field === 'event') name = value
        else if (field === 'data') data.push(value)
      }
      if (data.length > 0) events.push({ name, data: data.join('\n') })
    }
  }
}
