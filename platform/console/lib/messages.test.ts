import { IntlMessageFormat } from 'intl-messageformat'
import { createElement, isValidElement, type ReactNode } from 'react'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { messages } from './messages.ts'
import { pseudoMessage, pseudoText } from './pseudo.ts'

const strings = messages({
  title: "Hosts that don't report",
  hosts: '{count, plural, one {# host} other {# hosts}}',
  seen: 'Last seen {time}',
  both: '{host} has {count, plural, one {# device} other {# devices}}, {tools, number} attack tools, {name}',
  help: 'See the <link>guide</link>.',
})

describe('messages', () => {
  it('returns texts without values as strings', () => {
    expectTypeOf(strings.title).toEqualTypeOf<string>()
    expect(strings.title).toBe("Hosts that don't report")
  })

  it('chooses the plural form and separates thousands', () => {
    expect([0, 1, 2, 1234].map((count) => strings.hosts({ count }))).toEqual([
      '0 hosts',
      '1 host',
      '2 hosts',
      '1,234 hosts',
    ])
  })

  it('types each value by its place in the message', () => {
    expect(strings.both({ host: 'h1', count: 2, tools: 1000, name: 'x' })).toBe(
      'h1 has 2 devices, 1,000 attack tools, x',
    )
    // @ts-expect-error: the count of a plural is a number
    const wrong = () => strings.hosts({ count: 'two' })
    // @ts-expect-error: every value is needed
    const missing = () => strings.both({ host: 'h1', count: 2 })
    expect([wrong, missing]).toHaveLength(2)
  })

  it('returns elements where a value is one', () => {
    const time = createElement('time')
    const said = strings.seen({ time })
    expectTypeOf(said).toEqualTypeOf<ReactNode>()
    expectTypeOf(strings.seen({ time: 'now' })).toEqualTypeOf<string>()
    expect(strings.seen({ time: 'now' })).toBe('Last seen now')
    expect(isValidElement(said)).toBe(true)
    const drawn = strings.help({ link: (text) => createElement('a', null, text) })
    expect(isValidElement(drawn)).toBe(true)
  })
})

describe('the pseudo-locale', () => {
  it('accents literal text, keeps values, and grows by 40 %', () => {
    expect(pseudoText('Devices')).toBe('Ďéṽîćéś···')
    const said = new IntlMessageFormat(
      pseudoMessage(new IntlMessageFormat('{host}: {count, plural, one {# device} other {# <b>devices</b>}}').getAst()),
    ).format({ host: 'pc-1', count: 2, b: (parts: string[]) => parts.join('') } as never)
    expect(said).toBe('pc-1: 2 ďéṽîćéś···')
  })
})
