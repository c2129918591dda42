/** Reads a list response of any size row by row, because a gigabyte of JSON cannot be parsed as one text. */
export const createRowReader = () => {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let total = -1
  let count = 0
  let started = false
  /** Position of the next character to read, and the nesting there. */
  let at = 0
  let depth = 0
  let inString = false
  let rowStart = 0

  const readHead = (): void => {
    const head = /^\{"recordsTotal":(\d+),"recordsFiltered":(\d+),"data":\[/.exec(text)
    if (head === null) {
      if (text.length > 200) throw new Error(`The response begins with ${text.slice(0, 200)}`)
      return
    }
    total = Number(head[1])
    started = true
    text = text.slice(head[0].length)
  }

  const readRows = (): void => {
    if (depth < 0) return
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (inString) {
        // A backslash escapes the next character, which may be in the next chunk.
        if (code === 92) {
          if (at + 1 >= text.length) break
          at += 1
        } else if (code === 34) inString = false
      } else if (code === 34) inString = true
      else if (code === 123) {
        if (depth === 0) rowStart = at
        depth += 1
      } else if (code === 125) {
        depth -= 1
        if (depth < 0) break
        if (depth > 0) continue
        JSON.parse(text.slice(rowStart, at + 1))
        count += 1
        const next = text[at + 1]
        if (next !== undefined && next !== ',' && next !== ']') throw new Error(`After row ${count} comes ${next}`)
      }
    }
    const keep = depth > 0 ? rowStart : at
    text = text.slice(keep)
    at -= keep
    rowStart = 0
  }

  return {
    add: (chunk: Buffer): void => {
      text += decoder.decode(chunk, { stream: true })
      if (!started) readHead()
      if (started) readRows()
    },
    end: (): { total: number; count: number; isComplete: boolean } => {
      text += decoder.decode()
      return { total, count, isComplete: started && depth === -1 && text === '}' }
    },
  }
}
