import { expect, it } from 'vitest'
import { gradeLabels } from './grade.ts'

it('a Mac is shown as monitored only, with the reason that applies to macOS', () => {
  expect(gradeLabels('observe', 'macOS 14.5')).toEqual({
    short: 'Monitoring only',
    long: 'This host is only monitored: the agent for macOS cannot block devices. You cannot arm it.',
    canArm: false,
  })
  expect(gradeLabels('observe', 'Debian GNU/Linux 12').long).toContain('kernel')
})

it('shows what the preview grade of a Windows host does not cover', () => {
  const { canArm, long } = gradeLabels('before-install', 'Windows 11 Pro')
  expect(canArm).toBe(true)
  expect(long).toContain('Not covered')
})
