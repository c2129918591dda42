import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deviceTree, type TreeDevice, type TreeNode } from './device-tree.ts'

const at = (hierarchy: string, present = true, isKnownAttackTool = false): TreeDevice => ({
  deviceID: `id-${hierarchy}`,
  hierarchy,
  present,
  isKnownAttackTool,
})
const shape = (nodes: TreeNode<TreeDevice>[]): unknown[] =>
  nodes.map(({ device, children }) =>
    children.length === 0 ? device.hierarchy : [device.hierarchy, ...shape(children)],
  )

describe('the tree of devices by port', () => {
  it('nests devices under hubs in numeric port order', () => {
    expect(shape(deviceTree([at('1-10'), at('1-2.1.3'), at('1-2'), at('1-2.1'), at('1-9')]))).toEqual([
      ['1-2', ['1-2.1', '1-2.1.3']],
      '1-9',
      '1-10',
    ])
  })

  it('attaches a device to the nearest known hub', () => {
    expect(shape(deviceTree([at('1-2'), at('1-2.4.1')]))).toEqual([['1-2', '1-2.4.1']])
    expect(shape(deviceTree([at('3-1.1')]))).toEqual(['3-1.1'])
  })

  it('lists attack tools first, wherever they are plugged in', () => {
    expect(shape(deviceTree([at('1-1'), at('1-2'), at('1-2.3', true, true), at('1-2.4')]))).toEqual([
      '1-2.3',
      '1-1',
      ['1-2', '1-2.4'],
    ])
  })

  it('leaves out detached devices', () => {
    expect(shape(deviceTree([at('1-1'), at('1-1', false)]))).toEqual(['1-1'])
  })

  it('contains each device exactly once for any paths', () => {
    const path = fc
      .tuple(fc.nat(3), fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }))
      .map(([bus, ports]) => `${bus}-${ports.join('.')}`)
    const count = (nodes: TreeNode<TreeDevice>[]): number => nodes.reduce((n, node) => n + 1 + count(node.children), 0)
    fc.assert(
      fc.property(fc.array(path), (paths) => {
        expect(count(deviceTree(paths.map((one) => at(one))))).toBe(paths.length)
      }),
    )
  })
})
