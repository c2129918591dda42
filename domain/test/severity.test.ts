import { deviceSeverity, severityOf } from '@portcullis/domain'
import { expect, it } from 'vitest'

it('gives a device the severity of its design, and of being unapproved where that is higher', () => {
  expect(deviceSeverity(severityOf({}), false)).toBe(10)
  expect(deviceSeverity(severityOf({}), true)).toBe(20)
  expect(deviceSeverity(severityOf({ vulnerable: true }), true)).toBe(30)
  expect(deviceSeverity(severityOf({ attackTool: 'confirmed' }), true)).toBe(50)
})
