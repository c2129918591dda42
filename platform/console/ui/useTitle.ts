import { useEffect } from 'react'
import { plainText } from '../lib/device-text.ts'
import { strings } from './strings.ts'

/** Sets the title of the browser tab. The title may contain the name of a host or a device. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = strings.pageTitle({ title: plainText(title) })
  }, [title])
}
