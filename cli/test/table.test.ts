import { describe, expect, it } from 'vitest'
import { plain, table } from '../src/table.ts'

describe('table', () => {
  it('replaces characters of hosts and devices that move the cursor or break a line', () => {
    const hostile = '\u001b[2J\u001b]0;owned\u0007a\r\nb\u2028c\u202Ed\u0000'
    const text = plain(hostile)
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(text).toContain('owned')
    expect(table(['a', 'b'], [[hostile, 1]]).split('\n').length).toBe(2)
  })

  it('aligns columns', () => {
    expect(
      table(
        ['host', 'n'],
        [
          ['long-name', 1],
          [null, 22],
        ],
      ),
    ).toBe('host       n\nlong-name  1\n           22')
  })
})
