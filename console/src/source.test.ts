import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = import.meta.dirname
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

/** Returns the places in the source that match, as `file:line`. */
const placesOf = (pattern: RegExp): string[] =>
  sources.flatMap(({ name, text }) =>
    [...text.matchAll(pattern)].map(({ index }) => `${name}:${text.slice(0, index).split('\n').length}`),
  )

describe('the source of the console', () => {
  it('has no casts to never, which would turn off the types of addresses and operations', () => {
    expect(placesOf(/ as never\b/g)).toEqual([])
  })

  it('reads search and path parameters by their route', () => {
    expect(placesOf(/strict: false/g)).toEqual([])
  })
})
