import { describe, expect, it } from 'vitest'
import { StartError } from '../start-error.ts'
import { databaseHosts, hostLabel } from './hosts.ts'
import { type Node, primaryOf } from './nodes.ts'

describe('a database address', () => {
  it.each([
    'postgres://u:p@db/name',
    'postgresql://u@/name?host=/run/pg&port=5433',
    'postgres://u@db/name?target_session_attrs=read-write',
    '/run/pg name',
  ])('of a single host is left to the driver: %s', (address) => {
    expect(databaseHosts(address)).toBeNull()
  })

  it.each([
    [
      'postgres://u:p%40,x@a,b:5433,[::1]:5434/name?sslmode=verify-full&target_session_attrs=read-write',
      [
        'postgres://u:p%40,x@a:5432/name?sslmode=verify-full',
        'postgres://u:p%40,x@b:5433/name?sslmode=verify-full',
        'postgres://u:p%40,x@[::1]:5434/name?sslmode=verify-full',
      ],
      ['a:5432', 'b:5433', '[::1]:5434'],
    ],
    [
      'postgresql://u@/name?host=/run/a,/run/b&port=5433',
      ['postgresql://u@/name?host=%2Frun%2Fa&port=5433', 'postgresql://u@/name?host=%2Frun%2Fb&port=5433'],
      ['/run/a:5433', '/run/b:5433'],
    ],
    ['postgres:///name?host=a,b&port=1,2', ['postgres://a:1/name', 'postgres://b:2/name'], ['a:1', 'b:2']],
  ])('of several hosts is split: %s', (address, urls, labels) => {
    const hosts = databaseHosts(address) ?? []
    expect(hosts.map(({ url }) => url)).toEqual(urls)
    expect(hosts.map(hostLabel)).toEqual(labels)
  })

  it.each([
    ['postgres://u@a,/name', 'empty host name'],
    ['postgres://u@a:x,b/name', 'port "x"'],
    ['postgres://u@a,b/name?target_session_attrs=standby', 'target_session_attrs of the database address is "standby"'],
  ])('is refused: %s', (address, sentence) => {
    expect(() => databaseHosts(address)).toThrow(StartError)
    expect(() => databaseHosts(address)).toThrow(sentence)
  })
})

describe('the primary', () => {
  const node = (host: string, isStandby: boolean, timeline: number, more: object = {}): Node => ({
    host: { host, port: 5432, url: '' },
    isStandby,
    isFenced: false,
    timeline,
    system: '1',
    ...more,
  })
  const chosen = (...nodes: Node[]): string => {
    try {
      return primaryOf(nodes).host.host
    } catch (error) {
      return (error as Error).message
    }
  }

  it('is the writable server of the newest timeline', () => {
    expect(chosen(node('a', false, 1), node('b', false, 2), node('c', true, 2))).toBe('b')
  })

  it.each([
    ['a former primary', [node('a', false, 1), node('c', true, 2)], 'of the newest timeline 2: a:5432 is a primary of'],
    [
      'a fenced one',
      [node('a', false, 1, { isFenced: true })],
      'No database server is the primary: a:5432 is read-only',
    ],
    [
      'one of two',
      [node('a', false, 2), node('b', false, 2)],
      'Two database servers are primaries of the same timeline',
    ],
    ['that of another cluster', [node('a', false, 1), node('b', true, 1, { system: '2' })], 'different clusters'],
  ])('is never %s', (_name, nodes, sentence) => {
    expect(chosen(...nodes)).toContain(sentence)
  })

  it('is never older than the newest timeline seen before', () => {
    expect(() => primaryOf([node('a', false, 1)], 2)).toThrow('newest timeline 2')
  })
})
