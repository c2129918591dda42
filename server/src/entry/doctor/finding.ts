import { cleanText } from '@portcullis/domain'

/** One line of the doctor: what was looked at, what was seen, and what to do when that is not good. */
export interface Finding {
  name: string
  status: 'ok' | 'warning' | 'error'
  seen: string
  /** Empty when there is nothing to do. */
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

/** The reason of a failure for a person, on one line. */
export const reasonOf = (fault: unknown): string => cleanText((fault as Error | null)?.message || String(fault), 300)

/** Findings of one look; one that fails in a way nobody thought of is a finding, too, and ends no other. */
export const look = async (
  name: string,
  work: () => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>,
): Promise<readonly Finding[]> => {
  try {
    return [await work()].flat()
  } catch (fault) {
    return [
      error(name, `could not be looked at: ${reasonOf(fault)}`, 'See the reason; run this as the user of the server.'),
    ]
  }
}

/** 1,234,567,890 as 1.2 GB. */
export const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(bytes < 1e10 ? 1 : 0)} GB`
