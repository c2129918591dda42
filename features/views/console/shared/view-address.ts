import { parseSearchText, searchText } from '@portcullis/platform/console/lib/view-state.ts'

/** The key of the saved views in the cache of the console. */
export const viewsKey = ['views'] as const

/** Returns the address of a view. */
export const viewAddress = (page: string, text: string): string => `${page}${searchText(parseSearchText(text))}`
