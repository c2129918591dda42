import { ConsoleRefusal } from '../lib/problem.ts'
import { strings } from './strings.ts'
import { tell, tellFailure } from './tell.ts'

/** Copies text to the clipboard and shows a message. */
export const copyText = async (text: string, what: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    tell(strings.copiedItem({ item: what }))
  } catch {
    tellFailure(new ConsoleRefusal(strings.copyBlocked))
  }
}
