import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnyOperation } from '../../contract/operation.ts'
import { curlOf } from './curl.ts'

const post = { method: 'POST', path: '/prime/webui/tags/{id}' } as AnyOperation

describe('a call as curl', () => {
  it('contains no token of the session', () => {
    expect(curlOf({ method: 'GET', path: '/a' } as AnyOperation, {}, 'https://host')).toBe(
      `curl -sS -H "Authorization: Bearer $PORTCULLIS_TOKEN" 'https://host/a'`,
    )
  })

  it('passes the exact body and address to the shell, whatever they contain', () => {
    // Without U+0000, which the argument of a program cannot contain.
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((value) => !value.includes('\0'))
    fc.assert(
      fc.property(text, text, (id, value) => {
        const command = curlOf(post, { params: { id }, body: { value } } as never, 'https://host')
        const shown = execFileSync('sh', ['-c', `curl() { for one; do printf '%s\\0' "$one"; done; }; ${command}`], {
          env: { PORTCULLIS_TOKEN: 'T' },
        })
        const words = shown.toString('utf8').split('\0')
        expect(words).toContain(JSON.stringify({ value }))
        expect(words).toContain(`https://host/prime/webui/tags/${encodeURIComponent(id)}`)
        expect(words).toContain('Authorization: Bearer T')
      }),
      { numRuns: 60 },
    )
  })
})
