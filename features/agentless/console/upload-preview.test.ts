import { describe, expect, it } from 'vitest'
import { previewLines, uploadText } from './upload-preview.ts'

const report = {
  added: 1,
  updated: 1_200,
  failed: 2,
  secondPerson: false,
  errors: [
    { line: 3, message: 'port must be a number.' },
    { line: 900, message: 'computerName is empty.' },
  ],
  lines: [
    { line: 2, computerName: 'a', outcome: 'added' as const, message: '' },
    { line: 3, computerName: 'b', outcome: 'failed' as const, message: 'port must be a number.' },
  ],
}

describe('the preview of an upload', () => {
  it('shows each line once, errors first, including errors beyond the listed lines', () => {
    expect(previewLines(report).map(({ line, outcome, computerName }) => [line, outcome, computerName])).toEqual([
      [3, 'failed', 'b'],
      [900, 'failed', ''],
      [2, 'added', 'a'],
    ])
  })

  it('describes the plan and the result', () => {
    expect(uploadText(report, false)).toBe('1 to add, 1,200 to change, 2 lines with errors')
    expect(uploadText({ ...report, failed: 0 }, true)).toBe('1 added, 1,200 changed')
  })
})
