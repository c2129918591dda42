import { countText } from '@portcullis/domain'
/** Returns a number of hosts in words. */
export const hostsText = (n: number): string => countText(n, 'host')
