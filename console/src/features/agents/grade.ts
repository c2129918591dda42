import { strings } from './strings.ts'
export interface GradeWords {
  short: string
  /** What it means for a device that no rule allows. */
  long: string
  canArm: boolean
}

const grades: Readonly<Record<string, GradeWords>> = {
  'before-driver': {
    short: strings.canBlockBeforeAnyDriver,
    long: strings.armedThisHostKeepsANew,
    canArm: true,
  },
  'after-attach': {
    short: strings.canBlockAfterAttaching,
    long: strings.armedThisHostTakesADevice,
    canArm: true,
  },
  observe: {
    short: strings.canOnlyObserve,
    long: strings.thisHostCannotBlockDevicesIts,
    canArm: false,
  },
}

/** The enforcement grade of a host in words. One that is not known here is shown as it is. */
export const gradeWords = (grade: string): GradeWords =>
  grades[grade] ?? { short: grade, long: strings.thisHostEnforcesByGrade({ grade }), canArm: true }
