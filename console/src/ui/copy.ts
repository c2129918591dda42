import { strings } from './strings.ts'
import { tell, tellFailure } from './tell.ts'

/** Puts text on the clipboard and says so. */
export const copyText = async (text: string, what: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    tell(strings.whatCopied({ what }))
  } catch {
    tellFailure(new Error(strings.theBrowserDidNotAllowCopying))
  }
}
