import { strings } from './strings.ts'

export interface GradeLabels {
  short: string
  /** The meaning for a device that no rule allows. */
  long: string
  canArm: boolean
}

const grades: Readonly<Record<string, GradeLabels>> = {
  'before-driver': {
    short: strings.gradeBeforeDriver,
    long: strings.gradeBeforeDriverHint,
    canArm: true,
  },
  'after-attach': {
    short: strings.gradeAfterAttach,
    long: strings.gradeAfterAttachHint,
    canArm: true,
  },
  'before-install': {
    short: strings.gradeBeforeInstall,
    long: strings.gradeBeforeInstallHint,
    canArm: true,
  },
  observe: {
    short: strings.gradeObserve,
    long: strings.gradeObserveHint,
    canArm: false,
  },
}

/** Returns the labels of an enforcement grade. An unknown grade is shown unchanged. */
export const gradeLabels = (grade: string, osName = ''): GradeLabels => {
  const labels = grades[grade] ?? { short: grade, long: strings.gradeUnknown({ grade }), canArm: true }
  if (grade !== 'observe') return labels
  if (osName.startsWith('macOS')) return { ...labels, long: strings.gradeMacosHint }
  return osName.startsWith('Windows') ? { ...labels, long: strings.gradeWindowsHint } : labels
}
