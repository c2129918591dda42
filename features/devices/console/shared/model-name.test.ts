import { expect, it } from 'vitest'
import { nameOfModel } from './model-name.ts'

it('names the vendor once', () => {
  expect(nameOfModel({ guiVid: 'Logitech, Inc.', guiPid: 'M90' })).toBe('Logitech, Inc. M90')
  expect(nameOfModel({ guiVid: 'SanDisk', guiPid: 'SanDisk Ultra' })).toBe('SanDisk Ultra')
  expect(nameOfModel({ guiVid: '', guiPid: 'Ultra' })).toBe('Ultra')
  expect(nameOfModel({ guiVid: 'SanDisk', guiPid: '' })).toBe('SanDisk')
})
