/** One event of the stream. */
export interface ServerEvent {
  name: string
  data: string
}

/**
 * Reads server-sent events out of text that arrives in any pieces. Returns a function that takes a piece and gives the
 * events that are complete. Comments, ids and retry lines are skipped: the channel does not resume, it refreshes.
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
        const match = /^(event|data): ?(.*)$/.exec(line)
        if (match?.[1] === 'event') name = match[2]!
        else if (match?.[1] === 'data') data.push(match[2]!)
      }
      if (data.length > 0) events.push({ name, data: data.join('\n') })
    }
  }
}
