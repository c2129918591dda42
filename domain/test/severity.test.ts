import { deviceSeverity, severityOf } from '@portcullis/domain'
import { expect, it } from 'vitest'

it('returns the severity of the fingerprint, or of a device that is not on the allowlist if that is higher', () => {
  expect(deviceSeverity(severityOf({}), false)).toBe(10)
  expect(deviceSeverity(severityOf({}), true)).toBe(20)
  expect(deviceSeverity(severityOf({ vulnerable: true }), true)).toBe(30)
  expect(deviceSeverity(severityOf({ attackTool: 'confirmed' }), true)).toBe(50)
})
