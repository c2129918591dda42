import { describe, expect, it } from 'vitest'
import { type BulkPreview, opposite, previewLines, selected } from './bulk.ts'

const preview = (change: Partial<BulkPreview> = {}): BulkPreview => ({
  action: 'arm',
  agents: 12_431,
  impossible: [],
  disconnected: 0,
  unchanged: 0,
  blocked: { agents: 0, peripherals: 0 },
  attackTools: 0,
  mismatched: { agents: 0, peripherals: 0 },
  worksAgain: { agents: 0, peripherals: 0, attackTools: 0 },
  prediction: null,
  secondPerson: false,
  ...change,
})
const texts = (one: BulkPreview, applyToPresent = false) => previewLines(one, applyToPresent).map(({ text }) => text)

describe('previewLines', () => {
  it('is empty if there are no effects', () => {
    expect(texts(preview())).toEqual([])
  })

  it('lists the most severe effects first, each with its number', () => {
    const one = preview({
      attackTools: 1,
      mismatched: { agents: 1, peripherals: 2 },
      blocked: { agents: 3, peripherals: 1_204 },
      impossible: [{ reason: 'They can only observe.', agents: 2 }],
      unchanged: 1,
      disconnected: 40,
    })
    expect(texts(one)).toEqual([
      '1 attached attack tool stops working.',
      '2 attached devices on 1 host have a kernel driver that is not allowed for their kind. They stop working, and their ports are held.',
      '1,204 attached devices on 3 hosts are not on the allowlist, and will be blocked when attached again.',
      '2 hosts are left out: They can only observe.',
      '1 host is already armed.',
      '40 hosts are disconnected and receive the command when they reconnect.',
    ])
    expect(texts(one, true)[2]).toBe(
      '1,204 attached devices on 3 hosts stop working immediately, because no rule allows them.',
    )
  })

  it('names blocked devices that freeing allows, attack tools first', () => {
    const freeing = (worksAgain: BulkPreview['worksAgain']) => texts(preview({ action: 'free', worksAgain }))
    expect(freeing({ agents: 2, peripherals: 2, attackTools: 2 })).toEqual([
      '2 blocked attack tools will work again on 2 hosts.',
    ])
    expect(freeing({ agents: 1, peripherals: 3, attackTools: 1 })).toEqual([
      '1 blocked attack tool and 2 other blocked devices will work again on 1 host.',
    ])
    expect(freeing({ agents: 1, peripherals: 1, attackTools: 0 })).toEqual([
      '1 blocked device will work again on 1 host.',
    ])
  })

  it('relates attached devices to all devices that arming blocks', () => {
    const one = preview({
      blocked: { agents: 21, peripherals: 153 },
      prediction: { blocked: { agents: 21, peripherals: 163, attachments: 37 } } as NonNullable<
        BulkPreview['prediction']
      >,
    })
    expect(texts(one)).toEqual([
      '153 of the 163 devices that arming blocks are attached. They work until they are attached again. The others were seen in the last 30 days.',
    ])
    expect(texts(one, true)[0]).toMatch(/^153 of the 163 .* are attached and stop working immediately/)
  })

  it('says that freeing lets no blocked device work again', () => {
    expect(texts(preview({ action: 'free' }))).toEqual(['No blocked device is attached, so none starts to work again.'])
  })

  it('counts selected hosts including those left out', () => {
    expect(selected(preview({ agents: 271, unchanged: 31, impossible: [{ reason: '', agents: 29 }] }))).toBe(300)
  })

  it('omits disconnected hosts if they make no difference', () => {
    expect(texts(preview({ action: 'delete', disconnected: 9 }))).toEqual([])
  })

  it('knows the opposite action', () => {
    expect([opposite('arm'), opposite('free'), opposite('delete')]).toEqual(['free', 'arm', null])
  })
})
