import { describe, expect, it } from 'vitest'
import { createKeys, type FocusKind, type KeyPress } from './keys.ts'

const setUp = () => {
  let now = 0
  let focus: FocusKind = 'none'
  const done: string[] = []
  const keys = createKeys({ now: () => now }, () => focus)
  const bind = (...names: string[]) =>
    keys.add(names.map((name) => ({ keys: name, description: name, run: () => done.push(name) })))
  const press = (key: string, change: Partial<KeyPress> = {}) => {
    let prevented = false
    keys.press({
      key,
      ctrlKey: false,
      metaKey: false,
      altKey: false,
      target: null,
      defaultPrevented: false,
      preventDefault: () => {
        prevented = true
      },
      ...change,
    })
    return prevented
  }
  return { keys, bind, press, done, setFocus: (kind: FocusKind) => (focus = kind), wait: (ms: number) => (now += ms) }
}

describe('the keyboard', () => {
  it('runs the command of a key and prevents the default of the browser', () => {
    const { bind, press, done } = setUp()
    bind('j')
    expect([press('j'), press('q')]).toEqual([true, false])
    expect(done).toEqual(['j'])
  })

  it('ignores keys while somebody types, and keys with a modifier', () => {
    const { bind, press, done, setFocus } = setUp()
    bind('j', 'Enter')
    press('j', { ctrlKey: true })
    press('j', { metaKey: true })
    press('j', { defaultPrevented: true })
    setFocus('text')
    press('j')
    expect(done).toEqual([])
  })

  it('leaves Enter to a focused button, but not j', () => {
    const { bind, press, done, setFocus } = setUp()
    bind('j', 'Enter')
    setFocus('control')
    press('Enter')
    press('j')
    expect(done).toEqual(['j'])
  })

  it('runs only the sequence if its first key is also bound alone', () => {
    const { bind, press, done } = setUp()
    bind('g a', 'g')
    press('g')
    expect(done).toEqual([])
    press('a')
    expect(done).toEqual(['g a'])
  })

  it('recognises sequences only within the time limit', () => {
    const { bind, press, done, wait } = setUp()
    bind('g a', 'a')
    press('g')
    press('a')
    press('g')
    wait(2_000)
    press('a')
    expect(done).toEqual(['g a', 'a'])
  })

  it('prefers the newest screen until it closes', () => {
    const { keys, press, done } = setUp()
    keys.add([{ keys: 'x', description: '', run: () => done.push('below') }])
    const remove = keys.add([{ keys: 'x', description: '', run: () => done.push('above') }])
    press('x')
    expect(keys.list()).toHaveLength(1)
    remove()
    press('x')
    expect(done).toEqual(['above', 'below'])
  })
})
