import { tell, tellFailure } from './tell.ts'

/** Puts text on the clipboard and says so. */
export const copyText = async (text: string, what: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
    tell(`${what} copied.`)
  } catch {
    tellFailure(new Error('The browser did not allow copying; select the text and copy it by hand.'))
  }
}
