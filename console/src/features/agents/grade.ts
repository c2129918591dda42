export interface GradeWords {
  short: string
  /** What it means for a device that no rule allows. */
  long: string
  canArm: boolean
}

const grades: Readonly<Record<string, GradeWords>> = {
  'before-driver': {
    short: 'can block before any driver',
    long: 'Armed, this host keeps a new device off before any driver sees it: not one keystroke gets through.',
    canArm: true,
  },
  'after-attach': {
    short: 'can block after attaching',
    long: 'Armed, this host takes a device off right after it was attached: it may act for a moment before that.',
    canArm: true,
  },
  observe: {
    short: 'can only observe',
    long: 'This host cannot block devices: its agent has no permission to, or its kernel keeps the switch read-only. It cannot be armed.',
    canArm: false,
  },
}

/** The enforcement grade of a host in words. One that is not known here is shown as it is. */
export const gradeWords = (grade: string): GradeWords =>
  grades[grade] ?? { short: grade, long: `This host enforces by “${grade}”.`, canArm: true }
