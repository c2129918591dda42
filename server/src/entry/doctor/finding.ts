import { cleanText } from '@portcullis/domain'

/** One finding of the doctor: the checked item, its state, and what to do if it is not ok. */
export interface Finding {
  name: string
  status: 'ok' | 'warning' | 'error'
  seen: string
  whatToDo: string
}

export const ok = (name: string, seen: string): Finding => ({ name, status: 'ok', seen, whatToDo: '' })
export const warning = (name: string, seen: string, whatToDo: string): Finding => ({
  name,
  status: 'warning',
  seen,
  whatToDo,
})
export const error = (name: string, seen: string, whatToDo: string): Finding => ({
  name,
  status: 'error',
  seen,
  whatToDo,
})

/** Returns the reason of a failure on one line. */
export const reasonOf = (fault: unknown): string => cleanText((fault as Error | null)?.message || String(fault), 300)

/** Returns the findings of one check. An unexpected failure becomes a finding and does not stop other checks. */
export const check = async (
  name: string,
  work: () => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>,
): Promise<readonly Finding[]> => {
  try {
    return [await work()].flat()
  } catch (fault) {
    return [error(name, `the check failed: ${reasonOf(fault)}`, 'Run this command as the user of the server.')]
  }
}

export const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(bytes < 1e10 ? 1 : 0)} GB`
